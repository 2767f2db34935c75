"""What is known of the files of a project, for the analysis of each of them: one unit, one run of its module and one summary of each function.

All of it depends on the files alone and not on who asked first, so that a file's findings are the same whichever files are linted with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from torchdevlint.infer.imports import MOST_FILES, Files, Global, Imports, dependents_of
from torchdevlint.infer.joins import join
from torchdevlint.infer.state import Heap
from torchdevlint.infer.summary import Heard, Summary
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import (
    UNKNOWN,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    OneOf,
    Partial,
    Rec,
    Ref,
    Sort,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    parts_of,
)
from torchdevlint.program import ir
from torchdevlint.source.grounds import Ground, kept_in
from torchdevlint.stubs import loader
from torchdevlint.stubs.loader import Stubs

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.recorder import Recorder


_MOST_LENT = 40  # fields of an object that other files see


class ModuleRun:
    """A file's module as the program that it is: the heap at its end, and what was told on the way."""

    __slots__ = ("heap", "heard")

    def __init__(self, heap: Heap, heard: Heard) -> None:
        self.heap, self.heard = heap, heard

    def held(self, name: Global) -> Value | None:
        """What a global of the file holds at the end of the run; None where nobody knows."""
        rec = self.heap.get(name.unit.globals)
        return rec.fields.get("." + name.name) if rec is not None else None

    def value_of(self, name: Global) -> Value | None:
        """What a global of the file holds for those that import it; None for what other files may change, or that lives in the file's heap."""
        if name.name in name.unit.global_stores:
            return None
        found = self.held(name)
        if isinstance(found, OneOf) and all(isinstance(one, Device) for one in alternatives(found)):
            found = join(*alternatives(found))  # chosen at the import, for whoever reads it
        return found if found is not None and all(map(_stands_alone, alternatives(found))) else None

    def lent(self, name: Global, heap: Heap) -> Value | None:
        """What a global holds that lives in the file's heap; what can be reached from it is put into `heap`, unless it is there.

        None for what functions of the file bind anew, and where nothing is known.
        """
        if name.name in name.unit.global_stores:
            return None
        found = self.held(name)
        if found is None or _is_flag(found):
            return None
        self.lend([found], heap)
        return found

    def lend(self, values: Iterable[Value], heap: Heap) -> None:
        """Puts what can be reached from some values into a heap, unless it is there."""
        pending: list[Any] = [*values]
        while pending:
            value = pending.pop()
            pending += parts_of(value)
            held = self.heap.get(value) if isinstance(value, (Ref, Cls)) and value not in heap else None
            if held is not None and len(held.fields) <= _MOST_LENT:
                fields = {key: UNKNOWN if _is_flag(content) else content for key, content in held.fields.items()}
                heap[value] = Rec(held.kind, held.cls, fields)
                pending += fields.values()


def _is_flag(value: Value) -> bool:
    """True for what the arguments of the command line, and other files, set before it is read."""
    return any(isinstance(one, Const) and type(one.value) in (bool, type(None)) for one in alternatives(value))


def _stands_alone(value: Value) -> bool:
    """True for a value that needs no heap. A flag is none: what reads the arguments of the command line sets it."""
    if isinstance(value, Tensor):
        return not isinstance(value.device, Term)
    if isinstance(value, Device):
        return not isinstance(value.place, Term)
    if isinstance(value, Const):
        return not isinstance(value.value, bool) and value.value is not None
    if isinstance(value, Tup):
        return all(map(_stands_alone, value.items))
    if isinstance(value, Partial):
        return all(map(_stands_alone, (value.function, *value.args, *(one for _, one in value.keywords))))
    return isinstance(value, (Ext, Cls, Sort)) or (isinstance(value, Func) and value.receiver is None)


Made = TypeVar("Made")


class _Layer(dict[Any, Made]):
    """What is known of the files here, in front of what is known of all others."""

    def __init__(self, is_here: Callable[[Any], bool], behind: dict[Any, Made]) -> None:
        super().__init__()
        self._is_here, self._behind = is_here, behind

    def get(self, key: Any, default: Any = None) -> Any:
        """What is known, by its key."""
        return super().get(key, default) if self._is_here(key) else self._behind.get(key, default)

    def __getitem__(self, key: Any) -> Made:
        return super().__getitem__(key) if self._is_here(key) else self._behind[key]

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(key) if self._is_here(key) else key in self._behind

    def __setitem__(self, key: Any, value: Made) -> None:
        if self._is_here(key):
            super().__setitem__(key, value)
        else:
            self._behind[key] = value

    def __delitem__(self, key: Any) -> None:
        if self._is_here(key):
            super().__delitem__(key)
        else:
            del self._behind[key]


class Kept:
    """What several analyses share. With `own`, that unit stands for the file of its path, and `base` is shared of all that does not depend on it."""

    def __init__(self, files: Files | None, own: Unit | None = None, base: Kept | None = None) -> None:
        self.base = base
        self.stubs: Stubs = base.stubs if base is not None else loader.in_use()
        is_layer = files is not None and own is not None and base is not None
        dependents = dependents_of(files, own.path) if is_layer else frozenset[str]()  # type: ignore[arg-type, union-attr]
        self._local = dependents | {own.path} if own is not None else dependents
        behind = base.imports if base is not None else None
        imports = Imports(files, own, behind, dependents)
        self.imports: Imports = imports
        self.lineages: dict[ir.Class, tuple[tuple[ir.Class, ...], tuple[str, ...]]] = {}
        self.modules: dict[ir.Class, bool] = {}
        self.summaries: dict[ir.Body, Summary] = {}
        self.runs: dict[Unit, ModuleRun | None] = {}
        self.roots: dict[ir.Class | ir.Body, Heard] | None = None  # what each tells, where the file may be revised
        self.recorder: Recorder | None = None
        self._analyses: dict[str, tuple[Analysis, Ground | None]] = {}
        if base is not None:
            self.lineages = _Layer(lambda cls: imports.is_here(cls.body), base.lineages)
            self.modules = _Layer(lambda cls: imports.is_here(cls.body), base.modules)
            self.summaries = _Layer(imports.is_here, base.summaries)
            self.runs = _Layer(lambda unit: imports.is_here(unit.program.module), base.runs)

    def analysis(self, path: str) -> Analysis:
        """The analysis of a file that can be read, without what its callers say."""
        if self.base is not None and path not in self._local:
            return self.base.analysis(path)
        return kept_in(self._analyses, path, lambda: self._analysed(path))

    def _analysed(self, path: str) -> Analysis:
        from torchdevlint.infer.analysis import Analysis

        unit = self.imports.unit(path)
        assert unit is not None
        return Analysis(unit.program, path, kept=self).run()

    def resting_on(self, unit: Unit, changed: list[int]) -> set[ir.Body] | None:
        """The bodies of which the summary rests on these of a unit; None where more rests on them than can be forgotten."""
        program = unit.program
        dead = self._asking_for({other for number in changed for other in _with_kin(program.bodies[number], program)})
        if any(body.classes for body in dead):
            return None
        if any(run is None or run.heard.rests_on(dead) for run in self.runs.values()):
            return None
        is_bounded = any(one.bounds or len(one.looked_into) >= MOST_FILES for one in self.imports.units())
        return None if is_bounded else dead

    def forget(self, unit: Unit, dead: set[ir.Body], files: Files | None) -> None:
        """Forgets the summaries of these bodies and what rests on them, for the present files."""
        self.imports.files = files
        if self.base is not None:
            self.base.imports.files = files
        for body in dead:
            self.summaries.pop(body, None)
        self.roots = {root: heard for root, heard in (self.roots or {}).items() if not heard.rests_on(dead)}
        self._analyses = {
            path: (one, ground)
            for path, (one, ground) in self._analyses.items()
            if one.unit is not unit and not one.roots.rests_on(dead)
        }

    def _asking_for(self, bodies: set[ir.Body]) -> set[ir.Body]:
        """These bodies, and all of which the summary rests on theirs."""
        asking: dict[ir.Body, list[ir.Body]] = {}
        for body, summary in self.summaries.items():
            for other in summary.heard.asked:
                asking.setdefault(other, []).append(body)
        found, pending = set(bodies), list(bodies)
        while pending:
            for body in asking.get(pending.pop(), ()):
                if body not in found:
                    found.add(body)
                    pending.append(body)
        return found


def _with_kin(body: ir.Body, program: ir.Program) -> Iterator[ir.Body]:
    """A body, those that it stands in, whose names it may capture, and those that stand in it."""
    around: ir.Body | None = body
    while around is not None:
        if around.kind in ("function", "lambda"):
            yield around
        around = around.parent
    for other in program.bodies:
        above = other.parent
        while above is not None and above is not body:
            above = above.parent
        if above is body:
            yield other


@lru_cache(maxsize=2)
def _of_project(files: Files, stubs: Stubs) -> Kept:
    """`stubs` are those in use: what is kept for others is of no use for these."""
    return Kept(files)


def kept_for(program: ir.Program, path: str, files: Files) -> Kept:
    """What is kept of a project, where a Program is that of the file on the disk; of a text of its own, what does not depend on it."""
    if program.kept is not None:
        kept: Kept = program.kept
        return kept
    base = _of_project(files, loader.in_use())
    return base if files.program(path) is program else Kept(files, Unit(program, path), base)
