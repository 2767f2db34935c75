"""What the rules ask of one file: its inference, the walks of its bodies, its classes, and what its text says as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torchdevlint.facts import class_shape, index, loaders, values
from torchdevlint.facts.facts import ClassSummary
from torchdevlint.facts.frame import Frame
from torchdevlint.facts.observed import NOTHING_OBSERVED, Observed
from torchdevlint.facts.once import once_per_body
from torchdevlint.facts.scopes import scopes_of
from torchdevlint.facts.values import Value
from torchdevlint.infer.analysis import Analysis, Seen, analyse
from torchdevlint.infer.kept import Kept, kept_for
from torchdevlint.infer.units import Unit
from torchdevlint.infer.walk import Walks
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.project import Member
from torchdevlint.program.roles import Roles
from torchdevlint.source.grounds import Ground, kept_in
from torchdevlint.stubs.loader import public

if TYPE_CHECKING:
    from torchdevlint.infer.walk import Walk

# The file that was asked about last: several rules ask about it one after the other.
_LAST: dict[tuple[ir.Program, int], tuple[Analysis, Ground | None]] = {}


class FileFacts:
    """Facts of one file."""

    def __init__(
        self,
        program: ir.Program,
        observed: Observed = NOTHING_OBSERVED,
        target_torch: tuple[int, int] | None = None,
        member: Member | None = None,
        wanted: Callable[[ir.Op], bool] = lambda op: isinstance(op, ir.Call),
    ) -> None:
        """`observed`: what a run saw; `wanted`: the operations in front of which rules want to know the state."""
        self.program = program
        self.observed = observed
        self.target_torch = target_torch
        self.member = member
        self.aliases = _aliases(program)
        self.remembered: dict[Any, Any] = {}  # answers of rules to what does not change while the file is asked about
        self.legacy_default = "set_default_tensor_type" in program.words
        self.has_default_device = "set_default_device" in program.words or self.legacy_default
        self._wanted = wanted
        self._indices: dict[int, index.BodyIndex] = {}
        self._classes: dict[int, ClassSummary] = {}
        self._symbols: dict[str, Value] = {}
        self._frames: dict[ir.Body, Frame] = {}

    # ---------------------------------------------------------------------------------------------- inference

    @property
    def inference(self) -> Analysis:
        """What is inferred of the file and of its place in its project, once for all rules."""
        if self.observed:
            if Analysis not in self.remembered:
                self.remembered[Analysis] = _inferred(self.program, self.member, self.observed.tensors())
            of_a_run: Analysis = self.remembered[Analysis]
            return of_a_run
        asked = (self.program, self.program.revision)
        if asked not in _LAST:
            _LAST.clear()
        return kept_in(_LAST, asked, lambda: _inferred(self.program, self.member))

    @property
    def names(self) -> Analysis:
        """What the names of the file mean, and its classes: the inference where it is there, else one that was not run."""
        asked = (self.program, self.program.revision)
        if self.observed or asked in _LAST:
            return self.inference
        not_run: Analysis = kept_in(self.remembered, FileFacts.names, self._not_run)
        return not_run

    def _not_run(self) -> Analysis:
        program, member = self.program, self.member
        path = "" if member is None else member.path
        kept = program.kept if member is None else kept_for(program, path, member.project)
        return Analysis(program, path, kept=Kept(None, Unit(program, path)) if kept is None else kept)

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.inference, lambda _, op: self._wanted(op))

    def walk_of(self, body: ir.Body) -> Walk | None:
        """The body as somebody from outside runs it."""
        return self._walks.of(body)

    def frame_of(self, body: ir.Body) -> Frame:
        """A body at the end of its run."""
        found = self._frames.get(body)
        if found is None:
            found = self._frames[body] = Frame(self, body)
        return found

    # ---------------------------------------------------------------------------------------------- text

    def index_of(self, body: ir.Body) -> index.BodyIndex:
        """The index of a body, made once."""
        found = self._indices.get(id(body))
        if found is None:
            found = self._indices[id(body)] = index.of(body, self.aliases)
        return found

    @cached_property
    def call_sites(self) -> dict[str, list[tuple[index.BodyIndex, ir.Call]]]:
        """The calls of the file's own functions, and of what `self` keeps, by name."""
        found: dict[str, list[tuple[index.BodyIndex, ir.Call]]] = {}
        for around in map(self.index_of, self.program.bodies):
            for name, call in around.local_calls:
                found.setdefault(name, []).append((around, call))
        return found

    @cached_property
    def places_batches(self) -> bool:
        """True for a file with a loader whose batches may be on a device already."""
        return loaders.any_may_place(self)

    def symbol(self, name: str) -> Value:
        """The value of a dotted name, made once."""
        found = self._symbols.get(name)
        if found is None:
            found = self._symbols[name] = values.symbol(public(name))
        return found

    def resolve_text(self, dotted: str) -> str:
        """The dotted name that a written one stands for, by the file's imports."""
        root, dot, rest = dotted.partition(".")
        base = self.aliases.get(root)
        return f"{base}{dot}{rest}" if base else dotted

    def spelled(self, register: ir.Register, body: ir.Body) -> str:
        """The dotted name that an expression of a body is written with, by the imports of the file: "torch.load" for `load` of torch."""
        return self.resolve_text(self.index_of(body).dotted(register))

    def spelling_of(self, module: str) -> str | None:
        """How the file writes an imported module: `nn`, or `torch.nn` where it imports torch alone; None where it imports neither."""
        root = module.partition(".")[0]
        alias = next((alias for alias, name in self.aliases.items() if name == module), None)
        return alias or (module if self.aliases.get(root) == root else None)

    def mentions(self, *words: str) -> bool:
        """True when one of the identifiers occurs anywhere in the file."""
        return not self.program.words.isdisjoint(words)

    @cached_property
    def roles(self) -> Roles:
        """What the file is for."""
        return Roles(self.program, self.member)

    @cached_property
    def _imported(self) -> frozenset[str]:
        """What is imported, with all packages above it."""
        return frozenset(
            ".".join(parts[:count])
            for parts in (name.split(".") for name in self.program.imported)
            for count in range(1, len(parts) + 1)
        )

    def imports(self, *roots: str) -> bool:
        """True when a module under one of the roots is imported."""
        return not self._imported.isdisjoint(roots)

    @cached_property
    def has_stars(self) -> bool:
        """True for a file that imports names without naming them: `from module import *`."""
        return any(op.name == "*" for body in self.program.bodies for op in Lookup.of(body).kind(ir.Import))

    # ---------------------------------------------------------------------------------------------- calls

    def calls_in(self, body: ir.Body) -> dict[str, list[ir.Call]]:
        """The calls of a body by the dotted name of what is called, by the imports of the file."""
        return _calls_in(body, self)

    def calls_to(self, names: Iterable[str], body: ir.Body) -> list[ir.Call]:
        """The calls, in a body, of functions with these dotted names; those of one name in the order of the body."""
        by_name = self.calls_in(body)
        return [call for name in names for call in by_name.get(name, ())]

    def body_of(self, op: ir.Op) -> ir.Body | None:
        """The body of the file that an operation stands in."""
        return self._bodies.get(id(op))

    @cached_property
    def _bodies(self) -> dict[int, ir.Body]:
        return {id(op): body for body in self.program.bodies for op in Lookup.of(body).all}

    def calls_of(self, body: ir.Body, parameter: str) -> Iterator[tuple[index.BodyIndex, ir.Call, ir.Register | None]]:
        """The calls in this file of a function by its name, or of the attributes that keep an object with this `forward`, and what each gives
        as a parameter; None where it gives nothing, or nobody can tell.
        """
        number = next((at for at, one in enumerate(body.parameters) if one.name == parameter), None)
        if number is None:
            return
        for name in (body.name, *(self._kept_as(body.owner) if body.name in ("forward", "__call__") else ())):
            for around, call in self.call_sites.get(name, ()):
                yield around, call, call.argument(parameter, number - body.is_bound)

    def _kept_as(self, owner: ir.Class | None) -> Iterator[str]:
        """The attributes under which the classes of the file keep an object of this class."""
        for cls in self.program.classes:
            for name, stores in self.summary_of(cls).stores.items():
                if owner is not None and all(store.value.definition is owner for store in stores):
                    yield name

    def arguments_given(self, body: ir.Body, parameter: str) -> list[Value]:
        """What the calls of this file give as `parameter`."""
        return [
            Frame(self, around.body, call).values[register]
            for around, call, register in self.calls_of(body, parameter)
            if register is not None
        ]

    # ---------------------------------------------------------------------------------------------- classes

    def enclosing_summary(self, body: ir.Body) -> ClassSummary | None:
        """The class that a body's `self` belongs to."""
        owners = (one.owner for one in scopes_of(body) if one.owner is not None and one.kind != "class")
        return next(map(self.summary_of, owners), None)

    def summary_of(self, cls: ir.Class) -> ClassSummary:
        """The summary of a class, made once."""
        found = self._classes.get(id(cls))
        if found is None:
            found = self._classes[id(cls)] = ClassSummary(cls, self)
            class_shape.describe(self, found)
        return found

    @cached_property
    def _classes_by_name(self) -> dict[str, list[ir.Class]]:
        found: dict[str, list[ir.Class]] = {}
        for cls in self.program.classes:
            found.setdefault(cls.name, []).append(cls)
        return found

    def class_named(self, name: str, other_than: ir.Class) -> ir.Class | None:
        """The last class of this file with a name, that is not the given one."""
        return next((cls for cls in reversed(self._classes_by_name.get(name, ())) if cls is not other_than), None)


@once_per_body
def _calls_in(body: ir.Body, analysis: FileFacts) -> dict[str, list[ir.Call]]:
    found: dict[str, list[ir.Call]] = {}
    for call in Lookup.of(body).kind(ir.Call):
        found.setdefault(analysis.spelled(call.function, body), []).append(call)
    return found


def _inferred(program: ir.Program, member: Member | None, seen: Seen | None = None) -> Analysis:
    if member is None:
        return analyse(program, kept=program.kept, seen=seen)
    return analyse(program, member.path, member.project, kept_for(program, member.path, member.project), seen)


def _aliases(program: ir.Program) -> dict[str, str]:
    """Imported names of the whole file, where they mean one thing only."""
    found: dict[str, str] = {}
    clash: set[str] = set()
    for body in program.bodies:
        for block in body.blocks:
            pending: dict[int, str] = {}
            for op in block.ops:
                if isinstance(op, ir.Import):
                    pending[op.dst] = op.qualified
                elif (
                    pending
                    and isinstance(op, ir.Store)
                    and op.value in pending
                    and found.setdefault(op.name, pending[op.value]) != pending[op.value]
                ):
                    clash.add(op.name)
    return {name: qualified for name, qualified in found.items() if name not in clash}
