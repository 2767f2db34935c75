"""Notebooks: what is read as Python, where findings stand, and that a repair changes nothing else by a byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchdevlint.findings import Outcome
from torchdevlint.linter import Repair, lint
from torchdevlint.settings import Settings
from torchdevlint.source import json_text
from torchdevlint.source.magics import Masks, masked
from torchdevlint.source.notebook import Notebook
from torchdevlint.source.source import SourceError

LOAD = "import torch\nmodel = torch.nn.Linear(2, 2)\nmodel.load_state_dict(torch.load(path))\nmodel.to(device)"


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source, **more}


def stored(*cells: dict[str, Any], metadata: dict[str, Any] | None = None, **style: Any) -> bytes:
    notebook = {"cells": list(cells), "metadata": metadata or {}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(notebook, **{"indent": 1, **style}) + "\n").encode()


def checked(raw: bytes, repair: Repair = Repair.NONE) -> Outcome:
    return lint("a.ipynb", raw, Settings(), repair)


def test_findings_name_cell_and_row() -> None:
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["torch.load(x)"]}
    found = checked(stored(markdown, code("x = 1\n"), code(LOAD.splitlines(keepends=True)))).findings
    assert [(f.code, f.cell, f.span.start.row, f.place) for f in found] == [("TDL101", 3, 3, "cell 3:3:23")]


def test_a_name_of_one_cell_is_known_in_the_next() -> None:
    first, second = "import torch as t\n", "m = t.nn.Linear(2, 2)\nm.load_state_dict(t.load(p))\nm.to(d)"
    assert [f.code for f in checked(stored(code(first), code(second))).findings] == ["TDL101"]


def test_a_repair_changes_the_lines_that_it_repairs_and_no_other_byte() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": ["caf\u00e9 1.0e5\n"]}
    magics = [
        "%matplotlib inline\n",
        "!pip install torch  # don't\n",
        "x?\n",
        "if 1:\n",
        "    !ls\n",
        "files = !ls *.pt\n",
    ]
    raw = stored(
        code(magics, id="a", outputs=[output], execution_count=3),
        code("%%bash\ntorch.load("),
        code(LOAD, id="b"),
        code([*LOAD.splitlines(keepends=True)[:-1], "y = 1.50  # \u2713"], id="c"),
        metadata={"kernelspec": {"language": "python", "name": "python3"}, "x": [1.0, 1e400, True, None]},
    )
    outcome = checked(raw, Repair.SAFE)
    assert outcome.stored is not None and len(outcome.fixed) == 2
    expected = raw.replace(b"torch.load(path)", b'torch.load(path, map_location=\\"cpu\\")')
    assert outcome.stored == expected
    assert checked(outcome.stored, Repair.SAFE).stored is None


@pytest.mark.parametrize("style", [{"indent": None}, {"indent": 4}, {"indent": "\t"}, {"ensure_ascii": False}])
def test_the_style_of_the_json_stays(style: dict[str, Any]) -> None:
    raw = stored(code(LOAD.splitlines(keepends=True)), code("s = 'caf\u00e9'"), **style)
    assert checked(raw, Repair.SAFE).stored == raw.replace(
        b"torch.load(path)", b'torch.load(path, map_location=\\"cpu\\")'
    )


def test_nbformat_3_and_a_byte_order_mark() -> None:
    sheet = {
        "cells": [{"cell_type": "code", "language": "python", "input": LOAD.splitlines(keepends=True), "outputs": []}]
    }
    raw = b"\xef\xbb\xbf" + json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [sheet]}).encode()
    assert checked(raw, Repair.SAFE).stored == raw.replace(
        b"torch.load(path)", b'torch.load(path, map_location=\\"cpu\\")'
    )


def test_another_language_is_not_read() -> None:
    assert checked(stored(code(LOAD), metadata={"kernelspec": {"language": "R"}})).findings == ()


def test_a_suppression_in_a_cell_counts() -> None:
    assert checked(stored(code(LOAD.replace("(path))", "(path))  # noqa: TDL101")))).findings == ()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b'{"cells": [ torch.load', "no JSON"),
        (b'{"metadata": {"torch.load": 1}}', "no cells"),
        (b'{"cells": ["torch.load", "\xff"]}', "not UTF-8"),
        (b"[" * 5000 + b'"torch.load"', "deep"),
        (b'{"torch.load": 1} 2', "follows"),
    ],
)
def test_a_broken_notebook_is_one_clear_finding(raw: bytes, says: str) -> None:
    (finding,) = checked(raw).findings
    assert finding.code == "TDL000" and says in finding.message


def test_a_cell_that_does_not_parse_is_told_where_it_is() -> None:
    (finding,) = checked(stored(code("import torch"), code("x = (\n"))).findings
    assert (finding.code, finding.cell) == ("TDL000", 2)


def test_a_string_is_no_magic_and_an_operator_neither() -> None:
    lines = ['text = """', "%matplotlib", '"""', "x = (7", "% 3)", "y = 7 \\", "% 2", "%run a.py", "!echo \\", "more"]
    masks = Masks("k")
    hidden = masked(lines, masks)
    assert hidden[:7] == lines[:7] and masks.hidden == 3
    assert [masks.restore(line) for line in hidden] == lines


@given(
    st.lists(st.lists(st.text(alphabet="ab\"'\\#%!?()[]= \tx\u00e9\U0001f600", max_size=12), max_size=5), max_size=4)
)
def test_a_notebook_comes_back_as_it_was(cells: list[list[str]]) -> None:
    raw = stored(*(code([line + "\n" for line in lines]) for lines in cells))
    notebook = Notebook.from_bytes("a.ipynb", raw)
    assert notebook.to_bytes() == raw
    longer = notebook.with_text(notebook.text.replace("x", "xx"))
    assert json.loads(longer.to_bytes())["cells"] is not None


@given(st.text(alphabet='{}[]",:\\ntrue0123.eE+- ', max_size=30))
def test_json_is_read_as_the_standard_library_reads_it(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(json_text.JsonError):
            json_text.parse(text)
    else:
        assert json_text.parse(text).end <= len(text)


def test_an_edit_across_cells_is_refused() -> None:
    notebook = Notebook.from_bytes("a.ipynb", stored(code("a = 1"), code("b = 2")))
    with pytest.raises(ValueError, match="border"):
        notebook.with_text("a = 1\nb = 2\n")


def test_a_hostile_cell_cannot_pass_as_a_border() -> None:
    raw = stored(code("# cell-0 1\nx = 0#cell-0:0\n"), code(LOAD))
    assert checked(raw, Repair.SAFE).stored == raw.replace(
        b"torch.load(path)", b'torch.load(path, map_location=\\"cpu\\")'
    )


def test_no_notebook_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        Notebook.from_bytes("a.ipynb", b"")


@pytest.mark.parametrize(
    "lines",
    [
        ["ls /content/checkpoints/"],
        ["cd ..", "pip install -q torch"],
        ["if missing:", "    mkdir -p data/raw"],
    ],
)
def test_a_line_magic_needs_no_sign_where_it_is_no_python(lines: list[str]) -> None:
    found = checked(stored(code("\n".join(lines)), code(LOAD))).findings
    assert [one.code for one in found] == ["TDL101"]


@pytest.mark.parametrize("line", ["ls = 3", "run (x)", "cat -x", "time\t", "more: int = 3", "run(x, ["])
def test_what_is_python_is_no_magic(line: str) -> None:
    masks = Masks("key")
    assert masked([line], masks) == [line]
