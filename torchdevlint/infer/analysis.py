"""The analysis of one file: its module as a program, then every function and class as somebody from outside may use it."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import classes, devices
from torchdevlint.infer.calls import Replay
from torchdevlint.infer.context import Context
from torchdevlint.infer.evaluation import Evaluation
from torchdevlint.infer.imports import Files, Imports
from torchdevlint.infer.state import Heap
from torchdevlint.infer.summary import Fault, Summary
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import (
    HOST,
    MANY,
    NONE,
    UNKNOWN,
    Cls,
    Const,
    Ext,
    Func,
    OneOf,
    Place,
    Rec,
    Ref,
    Site,
    Tensor,
    Term,
    Value,
    alternatives,
    join,
    one_of,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.recorder import Recorder

MOST_REPLAYS = 4_000
MOST_STEPS = 60_000  # terms run again, of all calls of a file; real files of 6,000 operations take 4,000
_TENSORS = frozenset({"Tensor", "FloatTensor", "LongTensor", "BoolTensor"})
OWN_SELF = Term("own", "self")
_ANYBODY = Site(ir.Op(None), None, None)  # type: ignore[arg-type] # the one who calls from outside


class Analysis:
    """What is inferred of one file. `bounds` counts the limits that were hit."""

    def __init__(self, program: ir.Program, path: str = "", files: Files | None = None) -> None:
        self.unit = Unit(program, path)
        self._imports = Imports(files, self.unit, self.hit) if files is not None and path else None
        self.settings = Ref("settings")
        self.bounds: Counter[str] = Counter()
        self.faults: dict[tuple[int, int, str], Fault] = {}
        self.met: set[tuple[Site, Site | None]] = set()
        self.called: set[ir.Body] = set()
        self.lineages: dict[ir.Class, tuple[tuple[ir.Class, ...], tuple[str, ...]]] = {}
        self.modules: dict[ir.Class, bool] = {}
        self._summaries: dict[ir.Body, Summary] = {}
        self._running: set[ir.Body] = set()
        self._replays = self._steps = 0
        self._heap: Heap = {}
        self.recorder: Recorder | None = None  # hears of every value and claim

    # ------------------------------------------------------------------------------------------------ names

    def unit_of(self, body: ir.Body) -> Unit:
        """The file that a body stands in."""
        return self.unit if self._imports is None else self._imports.unit_of(body)

    def named(self, unit: Unit, name: str) -> Value:
        """What a dotted name means at the top of a file."""
        head, _, rest = name.partition(".")
        found = unit.statics.get(head)
        if isinstance(found, Ext):
            return self.foreign(unit, f"{found.name}.{rest}" if rest else found.name)
        return found if found is not None and not rest else Ext(name)

    def foreign(self, unit: Unit, name: str) -> Value:
        """What is imported under a dotted name: a function or class of the project, or something foreign."""
        found = self._imports.resolve(unit, name) if self._imports is not None else None
        return Ext(name) if found is None else found

    def class_of_receiver(self, value: Value) -> Cls | None:
        """The class, where a value is the first parameter of a method."""
        if isinstance(value, Term) and value.op == "parameter":
            return self.unit_of(value.args[0]).receivers.get(value)
        return None

    def is_receiver_of_module(self, value: Value) -> bool:
        """True for the `self` of a module's method."""
        found = self.class_of_receiver(value)
        return found is not None and classes.is_module(self, found.cls)

    # ------------------------------------------------------------------------------------------------ summaries

    def hit(self, bound: str) -> None:
        """Counts a limit."""
        self.bounds[bound] += 1

    def may_replay(self) -> bool:
        """Whether another call may be run."""
        self._replays += 1
        return self._replays <= MOST_REPLAYS and self._steps <= MOST_STEPS

    def may_step(self) -> bool:
        """Whether another term may be run: what calls each other in many ways would take forever."""
        self._steps += 1
        if self._steps == MOST_STEPS + 1:
            self.hit("work on one file")
        return self._steps <= MOST_STEPS

    def summary(self, body: ir.Body) -> Summary | None:
        """The summary of a function; None while it is being made: a call of itself stays open."""
        known = self._summaries.get(body)
        if known is not None:
            return known
        if body in self._running:
            return None
        self._running.add(body)
        found = self._summaries[body] = self._summarise(body)
        self._running.discard(body)
        return found

    def _summarise(self, body: ir.Body) -> Summary:
        unit = self.unit_of(body)
        ctx = Context(self, unit, "summary", body)
        env: dict[str, Value] = {}
        for parameter in body.parameters:
            term = env[parameter.name] = Term("parameter", body, parameter.name)
            if (
                parameter.annotation is not None
                and parameter.kind not in ("*", "**")
                and _says_tensor(parameter.annotation)
            ):
                ctx.proven.add(term)
        frame: Value | None = None
        if body.functions or unit.captured(body):
            fields: dict[Any, Value] = {".@parent": Term("parameter", body, "@frame")}
            fields.update({"." + name: value for name, value in env.items()})
            frame = ctx.new(None, "frame", None, fields, tag=body)
        done = Evaluation(ctx, body, env, frame).run()
        summary = Summary(ctx.events, {}, NONE, ctx.made, ctx.proven, ctx.heap)
        if body.is_generator:
            inner = join(*done.yields) if done.yields else UNKNOWN
            summary.result = ctx.new(None, "generator", None, {"*": inner}, tag=("generator", body))
            summary.heap = ctx.heap
        else:
            summary.result = _returned(done)
        summary.effects = {
            place: rec
            for place, rec in ctx.heap.items()
            if rec.kind == "overlay" and not (isinstance(place, Ref) and place.place in ctx.made)
        }
        return summary

    # ------------------------------------------------------------------------------------------------ faults

    def report(self, fault: Fault, ctx: Context) -> None:
        """Keeps a fault, one for each pair of places; what is broken stands above what is open."""
        if self.recorder is not None:
            self.recorder.reported(fault)
        if fault.verdict == "open" and not self._may_be_broken(fault):
            return
        place = fault.place
        key = id(place.op), id(fault.site.op), fault.kind
        old = self.faults.get(key)
        if old is None or (old.verdict == "open" and fault.verdict == "broken"):
            self.faults[key] = fault

    def _may_be_broken(self, fault: Fault) -> bool:
        """False for what a module's constructor is given, before anything moves, and for what nobody knows anything of."""
        place = fault.other.device
        if place == OWN_SELF:
            return True
        entry = fault.chain[-1].body if fault.chain else fault.site.body
        if entry is not None and entry.name == "__init__" and entry.owner is not None:
            return not classes.is_module(self, entry.owner)
        return not (isinstance(place, Term) and _origin_of(place.args[0]) in ("unknown", "top"))

    def decided(self) -> list[Fault]:
        """The faults. What a caller meets is not told as open to others, but for what a module's own device breaks."""
        read_on_host = {
            fault.other.device for fault in self.faults.values() if fault.verdict == "open" and fault.kind == "host"
        }
        return [
            fault for fault in self.faults.values() if fault.verdict == "broken" or self._is_told(fault, read_on_host)
        ]

    def _is_told(self, fault: Fault, read_on_host: set[Place]) -> bool:
        if fault.host is None or fault.other.device == OWN_SELF:
            return True
        if fault.other.device in read_on_host:
            return False  # the same function reads it as an array: it is on the CPU, or nothing works
        return (fault.site, fault.host.origin) not in self.met

    # ------------------------------------------------------------------------------------------------ roots

    def run(self) -> Analysis:
        """The module as the program that it is, then what somebody from outside may do with its parts."""
        program = self.unit.program
        ctx = Context(self, self.unit, "module", program.module)
        ctx.heap[self.unit.globals] = Rec("frame")
        ctx.heap[self.settings] = Rec("frame")
        Evaluation(ctx, program.module, {}, None).run()
        self._heap = ctx.heap
        for cls in program.classes:
            self._root_class(cls)
        for body in program.bodies:
            is_nested = body.parent is not None and body.parent.kind != "module"
            if body.kind == "function" and body.owner is None and not (is_nested and body in self.called):
                self._root_function(body)
        return self

    def _root(self) -> Context:
        ctx = Context(self, self.unit, "root")
        ctx.heap = dict(self._heap)
        return ctx

    def _root_function(self, body: ir.Body) -> None:
        summary = self.summary(body)
        if summary is None or body.parent is None:
            return
        ctx = self._root()
        parameters = self._open_parameters(body, summary)
        outer: Value = self.unit.globals if body.parent.kind == "module" else Term("parameter", body, "@frame")
        Replay(ctx, summary, body, {**parameters, "@frame": outer}, None).run()

    def _open_parameters(self, body: ir.Body, summary: Summary, skipped: int = 0) -> dict[str, Value]:
        """What somebody from outside gives: tensors on devices of their own where use proves them, and else who knows what."""
        found: dict[str, Value] = {}
        constants = dict(classes.defaults_of(body))
        for parameter in body.parameters[skipped:]:
            term = Term("parameter", body, parameter.name)
            value: Value = Tensor(Term("own", term), MANY) if term in summary.proven else term
            if parameter.default is not None and constants.get(parameter.name) == NONE:
                asked = Term("is_none", term)
                value = one_of([(frozenset({(asked, False)}), value), (frozenset({(asked, True)}), NONE)])
            found[parameter.name] = value
        return found

    def _root_class(self, cls: ir.Class) -> None:
        """A class is made by a constructor that gets what its use proves, moved where a module is moved, and each method is called."""
        ctx = self._root()
        value = Cls(cls, self.unit.globals)
        is_module = classes.is_module(self, cls)
        ctx.mute = True
        ref = ctx.new(
            None, "module" if is_module else "object", value, {"@device": HOST} if is_module else {}, tag=("open", cls)
        )
        init = classes.attribute_of(ctx, value, "__init__", ref)
        if isinstance(init, Func):
            ctx.mute = False
            self._call_open(ctx, init.body, ref)
            ctx.mute = True
        if is_module:
            devices.move_module(ctx, ref, OWN_SELF)
        methods = self._methods(cls)
        for method in methods:
            summary = self.summary(method)
            if summary is not None and summary.effects:
                self._join_attributes(ctx, ref, method)
        ctx.mute = False
        for method in methods:
            heap = ctx.heap
            ctx.heap = dict(heap)
            self._call_open(ctx, method, ref)
            ctx.heap = heap

    def _methods(self, cls: ir.Class) -> list[ir.Body]:
        found: dict[str, ir.Body] = {}
        for one in classes.bases_of(self, cls):
            for name, method in one.methods.items():
                is_bound = method.parameters and not {"staticmethod", "classmethod"} & set(method.decorators)
                if name != "__init__" and is_bound and not self.unit_of(method).is_of_constructors(name):
                    found.setdefault(name, method)
        return list(found.values())

    def _call_open(self, ctx: Context, method: ir.Body, ref: Ref) -> None:
        summary = self.summary(method)
        if summary is None or not method.parameters:
            return
        parameters = self._open_parameters(method, summary, skipped=1)
        first = {method.parameters[0].name: ref, "@frame": self.unit_of(method).globals}
        Replay(ctx, summary, method, {**parameters, **first}, None).run()

    def _join_attributes(self, ctx: Context, ref: Ref, method: ir.Body) -> None:
        """An attribute is what any method makes of it."""
        heap = ctx.heap
        ctx.heap = dict(heap)
        self._call_open(ctx, method, ref)
        new, old = ctx.heap.get(ref), heap.get(ref)
        if new is None or old is None:
            ctx.heap = heap
            return
        fields = {}
        for key in {**old.fields, **new.fields}:
            if isinstance(key, str) and key.startswith("@"):
                fields[key] = old.fields.get(key)
                continue
            several = [rec.fields[key] for rec in (old, new) if key in rec.fields]
            joined = join(*several)
            fields[key] = _placed(joined) if isinstance(key, str) and key.startswith(".") else joined
        ctx.heap[ref] = Rec(old.kind, old.cls, fields)


def _origin_of(value: object) -> str:
    """The operation that a term goes back to: "parameter" for what is computed from an argument."""
    while isinstance(value, Term) and value.args and isinstance(value.args[0], Term):
        value = value.args[0]
    return value.op if isinstance(value, Term) else ""


def _placed(value: Value) -> Value:
    """An attribute that some method puts on a device: what the constructor left on the CPU is not what others meet."""
    parts = alternatives(value)
    is_moved = any(
        (isinstance(one, Tensor) and one.device != HOST)
        or (isinstance(one, Term) and one.op == "moved" and one.args[1] != HOST)
        for one in parts
    )
    if not is_moved or not isinstance(value, OneOf):
        return value
    return one_of([(g, one) for g, one in value.options if not (isinstance(one, Tensor) and one.device == HOST)])


def _returned(done: Evaluation) -> Value:
    """What a function gives back, each value under the conditions of its path; that it may give nothing at all is left out."""
    values = [(facts, value) for facts, value, _ in done.returns]
    some = [(facts, value) for facts, value in values if value != NONE]
    if not some:
        return NONE
    if len(some) == 1:
        return some[0][1]
    shared = frozenset.intersection(*(facts for facts, _ in some))
    opposed = {
        (term, outcome)
        for facts, _ in some
        for term, outcome in facts
        if any((term, not outcome) in other for other, _ in values)
    }
    return one_of([((facts - shared) & opposed, value) for facts, value in some])


def _says_tensor(annotation: ir.Annotation) -> bool:
    last = annotation.name.rpartition(".")[2]
    if last in _TENSORS:
        return True
    return last in ("Optional", "|", "Union") and any(_says_tensor(one) for one in annotation.arguments)


def analyse(program: ir.Program, path: str = "", files: Files | None = None) -> Analysis:
    """The analysis of a file's Program; `files` are the other ones of its project."""
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, 20_000))
        return Analysis(program, path, files).run()
    finally:
        sys.setrecursionlimit(limit)


__all__ = ["Analysis", "Const", "analyse"]
