"""The program that is verified: its words, its folder, the project files that it imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchdevlint.program.bounds import excess
from torchdevlint.source.reading import read_bytes
from torchdevlint.source.source import Source, SourceError

_SKIPPED = frozenset(
    {".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", "site-packages", ".tox", ".mypy_cache"}
)
_MOST_FILES = 2000


@dataclass(frozen=True, slots=True)
class Program:
    """A script with arguments, a module with arguments, or pytest with arguments. `folder` is what it may change: its copy is run."""

    words: tuple[str, ...]
    module: bool
    cwd: Path
    folder: Path
    pytest: bool = False
    mutants: bool = False
    """Whether pytest's tests are run as device mutants."""

    @property
    def name(self) -> str:
        """The program as its user names it."""
        if self.pytest:
            return " ".join(("pytest", *self.words[2:]))
        return f"-m {self.words[0]}" if self.module else self.words[0]

    @property
    def script(self) -> Path | None:
        """The script's path, None for a module."""
        return None if self.module else (self.cwd / self.words[0]).resolve()


def program_in(words: list[str], module: bool, cwd: Path, pytest: bool = False, mutants: bool = False) -> Program:
    """The program for the words of a command line: its folder is the current one, or the script's where that lies elsewhere."""
    cwd = cwd.resolve()
    folder = cwd
    if not module:
        script = (cwd / words[0]).resolve()
        folder = cwd if script.is_relative_to(cwd) else script.parent
    return Program(tuple(words), module, cwd, folder, pytest, mutants)


def project_files(program: Program) -> list[Path]:
    """The program's own files: its script or module (for pytest: the tests and conftest files) and what they import below its folder."""
    search = _search_path(program)
    waiting = list(_entry_files(program, search))
    found: dict[Path, None] = {}
    while waiting and len(found) < _MOST_FILES:
        path = waiting.pop()
        if path in found or not path.is_relative_to(program.folder):
            continue
        found[path] = None
        waiting += _imports(path, search)
    return sorted(found)


def _search_path(program: Program) -> list[Path]:
    script = program.script
    first = [script if script.is_dir() else script.parent] if script is not None else []
    extra = [Path(entry).resolve() for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    return [*first, program.cwd, program.cwd / "src", *extra]


def _entry_files(program: Program, search: list[Path]) -> Iterator[Path]:
    if program.pytest:
        yield from _test_files(program)
    elif program.module:
        yield from _resolve(program.words[0].split("."), search)
        yield from _resolve([*program.words[0].split("."), "__main__"], search)
    else:
        script = program.script
        assert script is not None
        yield script / "__main__.py" if script.is_dir() else script


def _test_files(program: Program) -> Iterator[Path]:
    """What pytest would collect from its arguments (or from the folder): test files and conftest files."""
    named = [program.cwd / word.split("::")[0] for word in program.words[1:] if not word.startswith("-")]
    for root in [path.resolve() for path in named if path.exists()] or [program.cwd]:
        if root.is_file():
            yield root
            continue
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(set(folders) - _SKIPPED)
            for name in files:
                if name == "conftest.py" or (
                    name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
                ):
                    yield Path(folder) / name


def _imports(path: Path, search: list[Path]) -> list[Path]:
    """The files below the search path that a file's import statements may mean."""
    try:
        text = Source.from_bytes(str(path), read_bytes(str(path))).text
        if excess(text) is not None:
            return []
        tree = ast.parse(text)
    except (SyntaxError, SourceError, ValueError, OSError, RecursionError, MemoryError):
        return []
    found: list[Path] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found += _resolve(alias.name.split("."), search)
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            roots = [path.parents[node.level - 1]] if 0 < node.level <= len(path.parents) else search
            found += _resolve(base, roots)
            for alias in node.names:
                found += _resolve([*base, alias.name], roots)
    return found


def _resolve(parts: list[str], roots: list[Path]) -> list[Path]:
    """The files of a dotted name: the packages on its way and the module itself."""
    if not parts:
        return [path for root in roots if (path := root / "__init__.py").is_file()]
    for root in roots:
        found = []
        folder = root
        for part in parts:
            if (package := folder / part / "__init__.py").is_file():
                found.append(package.resolve())
            elif (module := folder / f"{part}.py").is_file():
                return [*found, module.resolve()]
            folder = folder / part
        if found:
            return found
    return []
