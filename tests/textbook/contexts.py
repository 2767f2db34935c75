"""Where a program stands: writes a fault into each of five surroundings, called, uncalled, and called from another file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .table import Program, Text

_READERS = """import csv

import numpy as np


def read_rows(path):
    with open(path) as file:
        return np.array([[float(cell) for cell in row] for row in csv.reader(file)])
"""
_PLOTS = """def draw(figure, points):
    axes = figure.gca()
    for label, values in points.items():
        axes.plot(values, label=label)
    return axes
"""
_README = "# A project\n\nRun it with Python.\n"
_PYPROJECT = '[project]\nname = "thing"\nversion = "0.1"\ndependencies = ["torch>=2.1", "numpy"]\n'
_TEST = """from thing.readers import read_rows


def test_rows(tmp_path):
    (tmp_path / "a.csv").write_text("1,2")
    assert read_rows(tmp_path / "a.csv").shape == (1, 2)
"""
USES = ("called", "uncalled", "elsewhere")


@dataclass(frozen=True, slots=True)
class Layout:
    """Files by their paths. `marked` are the places (path, row) where a finding may stand."""

    files: dict[str, str]
    checked: tuple[str, ...]
    marked: frozenset[tuple[str, int]]

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def _guarded(imports: Text, calls: Text) -> Text:
    """The calls in a `main` that runs when the file is started."""
    head = imports + Text(("", "", "def main():"))
    return head + calls.indented() + Text(("", "", 'if __name__ == "__main__":', "    main()"))


def _cells(imports: Text, definitions: Text, calls: Text) -> Text:
    """Cells of a script that an editor runs one by one."""
    text = Text(("# %%",)) + imports
    for part in (definitions, calls):
        if part.lines:
            text = text + Text(("", "# %%")) + part
    return text


def _plain(imports: Text, definitions: Text, calls: Text) -> Text:
    return imports + definitions + Text(("", "")) + calls if definitions.lines else imports + calls


def _in_main(imports: Text, definitions: Text, calls: Text) -> Text:
    if not calls.lines:
        return imports + definitions
    if not definitions.lines:
        return _guarded(imports, calls)
    return _guarded(imports + definitions, calls)


Shape = Callable[[Text, Text, Text], Text]


@dataclass(frozen=True, slots=True)
class Context:
    """Surroundings: the path of the file, the path of a caller with the module that it imports, the files beside them."""

    name: str
    path: str
    caller: str
    module: str
    beside: dict[str, str]
    shape: Shape

    def layouts(self, program: Program) -> dict[str, Layout]:
        """The program in these surroundings, by the use that is made of it."""
        if not program.definitions.lines:
            return {"called": self._layout({self.path: self.shape(program.imports, Text(()), program.calls)})}
        alone = {self.path: self.shape(program.imports, program.definitions, Text(()))}
        found = {
            "called": self._layout({self.path: self.shape(program.imports, program.definitions, program.calls)}),
            "uncalled": self._layout(alone),
        }
        if self.caller:
            used = [name for name in program.defined() if re.search(rf"\b{name}\b", str(program.calls))]
            imports = program.imports + Text((f"from {self.module} import {', '.join(used)}",))
            found["elsewhere"] = self._layout({**alone, self.caller: self.shape(imports, Text(()), program.calls)})
        return found

    def _layout(self, texts: dict[str, Text]) -> Layout:
        marked = frozenset((path, line + 1) for path, text in texts.items() for line in text.marked)
        return Layout({**self.beside, **{path: str(text) for path, text in texts.items()}}, tuple(texts), marked)


_BESIDE = {"readers.py": _READERS, "plots.py": _PLOTS, "requirements.txt": "torch\nnumpy\n", "README.md": _README}
_PACKAGED = {"README.md": _README, "pyproject.toml": _PYPROJECT, "tests/test_readers.py": _TEST}


def _package(home: str) -> dict[str, str]:
    inside = {"__init__.py": '__version__ = "0.1"\n', "readers.py": _READERS, "plots.py": _PLOTS}
    return {**_PACKAGED, **{f"{home}/{name}": text for name, text in inside.items()}}


CONTEXTS = (
    Context("file", "steps.py", "", "", {}, _plain),
    Context("program", "steps.py", "main.py", "steps", _BESIDE, _in_main),
    Context("package", "thing/steps.py", "thing/run.py", "thing.steps", _package("thing"), _in_main),
    Context("notebook", "steps.py", "explore.py", "steps", _BESIDE, _cells),
    Context("src", "src/thing/steps.py", "src/thing/run.py", ".steps", _package("src/thing"), _in_main),
)
