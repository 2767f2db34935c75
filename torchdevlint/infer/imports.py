"""Other files of the project: what an imported name stands for, where it is a function or a class of a file that can be read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from torchdevlint.infer.registries import MOST_REGISTERING, registers
from torchdevlint.infer.units import Unit, chooses_current_device
from torchdevlint.infer.values import Cls, Ext, Func, Value
from torchdevlint.program import ir
from torchdevlint.program.roles import SETS_TYPE, sets_default_device
from torchdevlint.source import grounds
from torchdevlint.stubs import loader

MOST_FILES = 200  # that one file's analysis looks into
MODULE = "file:"  # a module of the project, by its path
_FOREIGN = frozenset("torch numpy builtins typing collections functools os sys math random re json time".split())


# What makes another accelerator the current one.
_CURRENT = re.compile(
    rb"\bset_device\b|\bcuda\.device\b|\bfrom torch\.cuda import\b|\bdevice_index\b|\bset_device_index\b"
)
_SETTING = re.compile(rb"\bset_default_(?:device|tensor_type)\b")
ASKED_OF_ALL = (_CURRENT, _SETTING)  # whatever is asked of the bytes of all files


class Files(Protocol):
    """The files of a project (see `program.project.Project`)."""

    root: str

    def __hash__(self) -> int:
        """One project is itself alone."""

    def resolve(self, dotted: str, importer: str) -> tuple[str, ...]:
        """The files that run when `importer` imports a dotted name."""

    def installed(self, dotted: str, importer: str) -> tuple[str, ...]:
        """The same for a name of a package that is installed, and no file of the project."""

    def program(self, path: str) -> ir.Program | None:
        """The Program of a file."""

    def says(self, path: str, *words: bytes) -> bool:
        """Whether one of these words stands in a file."""

    def is_test(self, path: str) -> bool:
        """True for a test."""

    def package_of(self, path: str) -> str:
        """The folder of the package that the project offers to others, for a file of it; "" for any other file."""

    def that_decide_for(self, path: str, files: Set[str]) -> frozenset[str]:
        """Of some files, those whose doings hold for whoever uses one."""

    def importing(self, path: str) -> Iterable[str]:
        """The files with an import statement that holds the name of a module."""

    def imported_by(self, path: str) -> frozenset[str]:
        """The files that run for the import statements of a file."""

    def holding(self, parts: tuple[bytes, ...], pattern: re.Pattern[bytes]) -> Iterable[str]:
        """The files that hold one of the parts and match a pattern."""


def dependents_of(files: Files, path: str) -> frozenset[str]:
    """The files that may import a file, or one that does."""
    found: set[str] = set()
    pending = [path]
    while pending:
        new = set(files.importing(pending.pop())) - found - {path}
        found |= new
        pending += new
    return frozenset(found)


def _overriding(files: Files, path: str, cls: str) -> frozenset[str]:
    """The methods that subclasses of a class in other files have of their own, or of a mixin that they name in front of it."""
    found: set[str] = set()
    for other in files.importing(path):
        program = files.program(other) if files.says(other, cls.encode()) else None
        for one in program.classes if program is not None else ():
            bases = [base.rpartition(".")[2] for base in one.bases]
            if cls in bases:
                found.update(one.methods)
                for mixin in bases[: bases.index(cls)]:
                    found.update(_methods_of(files, other, mixin))
    return frozenset(found - {"__init__"})


def _methods_of(files: Files, path: str, cls: str) -> Iterator[str]:
    """The methods of a class by its plain name, of a file or of one that runs for its imports."""
    for other in (path, *files.imported_by(path)):
        program = files.program(other) if files.says(other, cls.encode()) else None
        for one in program.classes if program is not None else ():
            if one.name == cls:
                yield from one.methods


class Global(NamedTuple):
    """A name at the top of another file that is bound to something that its module makes."""

    unit: Unit
    name: str


Imported = Value | Global


class Imports:
    """What the names that files import stand for.

    `own` stands for the file of its path, whatever the disk says. `base` knows the files that do not depend on that one; `dependents` do.
    """

    def __init__(
        self,
        files: Files | None,
        own: Unit | None = None,
        base: Imports | None = None,
        dependents: frozenset[str] = frozenset(),
    ) -> None:
        self.files, self._base, self._dependents = files, base, dependents
        self._units: dict[str, Unit | None] = {}
        self._by_module: dict[ir.Body, Unit] = {}
        self._known: dict[Any, Any] = {}  # units by their paths, names by the paths of their files
        # Whether a file that sets a default device imports a file, and what that rests on.
        self._led_to_by_setting: dict[str, tuple[bool, grounds.Ground | None]] = {}
        if own is not None:
            self._add(own)

    @property
    def _setting_default(self) -> frozenset[str]:
        """The files that set torch's default device; a test sets it for its own run."""
        if self._base is not None:
            return self._base._setting_default
        return grounds.kept_in(self._known, "setting default", self._files_that_set)

    def _files_that_set(self) -> frozenset[str]:
        found = self.files.holding((b"set_default_",), _SETTING) if self.files is not None else ()
        return frozenset(path for path in found if not self.is_test(path) and self._names_setter(path))

    def _names_setter(self, path: str) -> bool:
        """False for a file that speaks of it in a comment or a string alone, or that a package does so in for itself."""
        program = self.files.program(path) if self.files is not None else None
        if program is None or self.files is None:
            return False
        return sets_default_device(program, is_offered=bool(self.files.package_of(path)))

    def may_set(self, unit: Unit, name: str) -> bool:
        """Whether a function sets an attribute of this name of another object than its own, in this file or, tests aside, in another of the project."""
        if name in unit.set_of_others:
            return True
        if self.files is None:
            return False
        setting = re.compile(rb"(?<!\bself)\.%s\s*=(?!=)" % re.escape(name.encode()))
        found = self.files.holding((b"." + name.encode(),), setting)
        return any(path != unit.path and not self.is_test(path) for path in found)

    def registering(self, unit: Unit) -> tuple[Unit, ...]:
        """The files, tests aside, with decorators of a module: they may fill its tables when they are imported."""
        if self.files is None:
            return ()
        if self._base is not None and unit.path not in self._dependents:
            return self._base.registering(unit)
        files, key = self.files, ("registering", unit.path)
        return grounds.kept_in(self._known, key, lambda: self._registering(files, unit), meanwhile=())

    def _registering(self, files: Files, unit: Unit) -> tuple[Unit, ...]:
        paths = [path for path in files.importing(unit.path) if files.says(path, b"@") and not self.is_test(path)]
        programs = ((path, files.program(path)) for path in paths)
        found = [path for path, program in programs if program is not None and registers(program, unit)]
        units = map(self.unit, found if len(found) <= MOST_REGISTERING else ())  # of a part of a table nothing follows
        return tuple(one for one in units if one is not None and one is not unit)

    def overriding(self, unit: Unit, cls: str) -> frozenset[str]:
        """The methods that classes of the files that import this one have, and that inherit from a class of it: they are called in the place of its own."""
        if self.files is None:
            return frozenset()
        if self._base is not None and unit.path not in self._dependents:
            return self._base.overriding(unit, cls)
        files, key = self.files, ("overriding", unit.path, cls)
        return grounds.kept_in(self._known, key, lambda: _overriding(files, unit.path, cls), meanwhile=frozenset())

    def sets_current_device(self, unit: Unit) -> bool:
        """True where a file of the project, or one that stands alone, may make an accelerator the current one."""
        if self.files is None:
            return unit.chooses_current_device
        if self._base is not None:
            return unit.chooses_current_device or self._base.sets_current_device(unit)
        return unit.chooses_current_device or self._setting_current

    @property
    def _setting_current(self) -> bool:
        parts = (b"set_device", b"cuda", b"device_index")

        def is_set() -> bool:
            files = self.files
            programs = map(files.program, files.holding(parts, _CURRENT)) if files is not None else ()
            return any(program is not None and chooses_current_device(program) for program in programs)

        return grounds.kept_in(self._known, "setting current", is_set)

    def _add(self, unit: Unit) -> None:
        if self.files is not None and self._is_imported_by_setting(self.files, unit.path):
            unit.sets_default = unit.default_set_elsewhere = True
            programs = map(self.files.program, self._setting_default)
            unit.sets_type |= any(one is not None and SETS_TYPE in one.words for one in programs)
        self._units[unit.path] = unit
        self._by_module[unit.program.module] = unit

    def _is_imported_by_setting(self, files: Files, path: str) -> bool:
        """True where another file sets torch's default device, and imports this one or one that does."""
        setting = files.that_decide_for(path, self._setting_default)
        if not setting or path in setting:
            return bool(setting - {path}) and not setting.isdisjoint(dependents_of(files, path))
        # The words of import statements rule most files out; where they do not, the imports themselves are asked.
        begun = grounds.begin()
        found: dict[str, bool] = {}
        try:
            if self._comes_from(files, path, setting, found, lambda _, __: True):
                found = {
                    path: self._comes_from(files, path, setting, {}, lambda other, one: one in files.imported_by(other))
                }
        finally:
            ground = grounds.end(begun)
        self._led_to_by_setting.update((other, (leads, ground)) for other, leads in found.items())
        return found[path]

    def _comes_from(
        self,
        files: Files,
        path: str,
        setting: frozenset[str],
        found: dict[str, bool],
        imports: Callable[[str, str], bool],
    ) -> bool:
        """True where a file of `setting` imports a file or one that does, tests aside; else `found` gets all that do."""
        pending, known = [path], self._led_to_by_setting
        found[path] = False
        while pending:
            one = pending.pop()
            for other in files.importing(one):
                leads, ground = known.get(other, (None, None))
                grounds.rest_on(ground)
                if other in found or leads is False or self.is_test(other) or not imports(other, one):
                    continue
                if other in setting or leads:
                    return True
                found[other] = False
                pending.append(other)
        return False

    def unit_of(self, body: ir.Body) -> Unit | None:
        """The file that a body stands in."""
        while body.parent is not None:
            body = body.parent
        found = self._by_module.get(body)
        return found if found is not None or self._base is None else self._base.unit_of(body)

    def is_here(self, body: ir.Body) -> bool:
        """True for a body of a file that no base knows."""
        if self._base is None:
            return True
        while body.parent is not None:
            body = body.parent
        return body in self._by_module

    def unit(self, path: str) -> Unit | None:
        """A file of the project; None for one that cannot be read."""
        if path not in self._units and self._base is not None and path not in self._dependents:
            return self._base.unit(path)
        return grounds.kept_in(self._known, path, lambda: self._made(path))

    def _made(self, path: str) -> Unit | None:
        if path in self._units:
            return self._units[path]
        program = self.files.program(path) if self.files is not None else None
        self._units[path] = None
        if program is not None:
            self._add(Unit(program, path))
        return self._units[path]

    def units(self) -> Iterator[Unit]:
        """The files that were read."""
        return (unit for unit in self._units.values() if unit is not None)

    def is_test(self, path: str) -> bool:
        """True for a test: it calls all that there is, its own run shows what fails, and it is analysed alone."""
        return self.files is not None and self.files.is_test(path)

    def resolve(self, unit: Unit, name: str) -> Imported | None:
        """What a dotted name means in a file; None for what is nothing of the project."""
        if self.files is None or name.partition(".")[0] in _FOREIGN or self.is_test(unit.path):
            return None
        if self._base is not None and unit.program.module not in self._by_module:
            return self._base.resolve(unit, name)
        files, key = self.files, (unit.path, name)
        return grounds.kept_in(self._known, key, lambda: self._resolved(files, unit, name), meanwhile=None)

    def _resolved(self, files: Files, unit: Unit, name: str, *, stars: bool = True) -> Imported | None:
        """`stars`: also what a module has by a star import."""
        if name.startswith(MODULE):
            path, _, attribute = name.removeprefix(MODULE).rpartition("::.")
            return self._member(unit, path, attribute, stars) if path else None
        found = files.resolve(name, unit.path) or _installed(files, name, unit.path)
        if not found:
            return None
        path, parts = found[-1], [part for part in name.lstrip(".").split(".") if part]
        *folders, base = path.replace(os.sep, "/").split("/")
        stem = folders[-1] if base == "__init__.py" and folders else base.removesuffix(".py")
        at = max((n for n, part in enumerate(parts) if part == stem), default=-1)
        rest = parts[at + 1 :]
        if not rest and at > 0 and parts[at - 1] == stem:
            # `from save import save`: what a file defines under its own name
            of_file = self._member(unit, path, stem, stars)
            if of_file is not None:
                return of_file
        if not rest:
            return (self._instead_of_module(path, stem) if stars and len(parts) > 1 else None) or Ext(
                f"{MODULE}{path}::"
            )
        return self._member(unit, path, rest[0], stars) if len(rest) == 1 else None

    def _instead_of_module(self, path: str, name: str) -> Imported | None:
        """What a package has under the name of one of its modules: `torch`, where `utils/torch.py` imports it and `utils/__init__.py` all of that."""
        package = self.unit(str(Path(path).with_name("__init__.py")))
        if package is None or package.path == path:
            return None
        found = package.statics.get(name)
        if isinstance(found, Ext) and found.name.partition(".")[0] in _FOREIGN:
            return found
        starred = self._starred(package, name) if package.stars and found is None else None
        return None if _is_module(starred) else starred

    def _member(self, unit: Unit, path: str, name: str, stars: bool) -> Imported | None:
        """A name at the top of another file."""
        if path not in unit.looked_into and len(unit.looked_into) >= MOST_FILES:
            unit.bounds["files that are looked into"] += 1
            return None
        unit.looked_into.add(path)
        other = self.unit(path)
        if other is None:
            return None
        found = other.statics.get(name)
        if isinstance(found, Ext):
            return self.resolve(other, found.name) or (found if found.name.partition(".")[0] in _FOREIGN else None)
        if found is None and name not in other.program.module.local_names:
            return self._starred(other, name) if stars else None
        return found or Global(other, name)

    def members(self, unit: Unit, path: str, deep: int = 3) -> dict[str, Value]:
        """The functions and classes that a module of the project has, those that it imports from others among them."""
        other = self.unit(path) if self.files is not None else None
        if other is None or self.files is None:
            return {}
        found: dict[str, Value] = {}
        for star in other.stars if deep else ():
            several = () if star.partition(".")[0] in _FOREIGN else self.files.resolve(star, other.path)
            if several:
                found |= self.members(other, several[-1], deep - 1)
        for name, value in other.statics.items():
            meant = self.resolve(other, value.name) if isinstance(value, Ext) else value
            if isinstance(meant, (Func, Cls)):
                found[name] = meant
        return {name: value for name, value in found.items() if not name.startswith("_")}

    def _starred(self, unit: Unit, name: str) -> Imported | None:
        """What a name stands for that a file has from a module of the project by `from module import *`, also by way of others.

        Modules that import each other so are one search: what one of them lacks while another is asked is no answer to keep.
        """
        if name.startswith("_") or self.files is None:
            return None
        pending, seen = [(unit, star) for star in reversed(unit.stars)], {unit.path}
        module: Imported | None = None  # a module of that name, which a star import of the package stands above
        while pending:
            importer, star = pending.pop()
            if star.partition(".")[0] in _FOREIGN or self.is_test(importer.path):
                continue
            found = self._resolved(self.files, importer, qualified_in(star, name), stars=False)
            if found is not None and not _is_module(found):
                return found
            module = module or found
            path = next(
                reversed(self.files.resolve(star, importer.path) or _installed(self.files, star, importer.path)), None
            )
            if path is not None and path not in seen:
                seen.add(path)
                other = self.unit(path)
                pending += [] if other is None else [(other, one) for one in reversed(other.stars)]
        return module


def _is_module(found: Imported | None) -> bool:
    """True for a file as a whole."""
    return isinstance(found, Ext) and found.name.startswith(MODULE) and found.name.endswith("::")


def qualified_in(module: str, name: str) -> str:
    """The dotted name of what a module holds: "." and "net" are ".net"."""
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


def _installed(files: Files, name: str, importer: str) -> tuple[str, ...]:
    """The files of a package of the user's environment, where the stubs tell nothing of its library."""
    return () if name.partition(".")[0] in loader.libraries() else files.installed(name, importer)
