"""Other files of the project: what an imported name stands for, where it is a function or a class of a file that can be read."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import Ext, Value
from torchdevlint.program import ir

MOST_FILES = 30  # that one file's analysis looks into
MODULE = "file:"  # a module of the project, by its path
_FOREIGN = frozenset(
    {
        "torch",
        "numpy",
        "builtins",
        "typing",
        "collections",
        "functools",
        "os",
        "sys",
        "math",
        "random",
        "re",
        "json",
        "time",
    }
)


class Files(Protocol):
    """The files of a project (see `program.project.Project`)."""

    def resolve(self, dotted: str, importer: str) -> tuple[str, ...]:
        """The files that run when `importer` imports a dotted name."""

    def program(self, path: str) -> ir.Program | None:
        """The Program of a file."""


class Imports:
    """What the names that a file imports stand for."""

    def __init__(self, files: Files, unit: Unit, hit: Callable[[str], None]) -> None:
        self._files, self._hit, self._own = files, hit, unit
        self._units: dict[str, Unit | None] = {unit.path: unit}
        self._by_module: dict[ir.Body, Unit] = {unit.program.module: unit}
        self._known: dict[tuple[str, str], Value | None] = {}

    def unit_of(self, body: ir.Body) -> Unit:
        """The file that a body stands in."""
        while body.parent is not None:
            body = body.parent
        return self._by_module.get(body, self._own)

    def resolve(self, unit: Unit, name: str) -> Value | None:
        """What a dotted name means in a file; None for what is no function, class or module of the project."""
        if name.partition(".")[0] in _FOREIGN:
            return None
        key = (unit.path if name.startswith(".") else "", name)
        if key not in self._known:
            self._known[key] = None  # names that import each other
            self._known[key] = self._resolved(unit, name)
        return self._known[key]

    def _resolved(self, unit: Unit, name: str) -> Value | None:
        if name.startswith(MODULE):
            path, _, attribute = name.removeprefix(MODULE).rpartition("::.")
            return self._member(path, attribute) if path else None
        found = self._files.resolve(name, unit.path)
        if not found:
            return None
        path, parts = found[-1], [part for part in name.lstrip(".").split(".") if part]
        *folders, base = path.replace(os.sep, "/").split("/")
        stem = folders[-1] if base == "__init__.py" and folders else base.removesuffix(".py")
        at = max((n for n, part in enumerate(parts) if part == stem), default=-1)
        rest = parts[at + 1 :]
        if not rest:
            return Ext(f"{MODULE}{path}::")
        return self._member(path, rest[0]) if len(rest) == 1 else None

    def _member(self, path: str, name: str) -> Value | None:
        """A name at the top of another file."""
        other = self._unit(path)
        found = other.statics.get(name) if other is not None else None
        if isinstance(found, Ext) and other is not None:
            return self.resolve(other, found.name) or (found if found.name.partition(".")[0] in _FOREIGN else None)
        return found

    def _unit(self, path: str) -> Unit | None:
        if path not in self._units:
            if len(self._units) > MOST_FILES:
                self._hit("files that are looked into")
                return None
            program = self._files.program(path)
            made = self._units[path] = Unit(program, path) if program is not None else None
            if made is not None:
                self._by_module[made.program.module] = made
        return self._units[path]
