"""The analysis of one file: its module as a program, then every function and class as somebody from outside may use it.

What it learns of other files on the way, and they of it, is kept for all files of the project (see `kept`).
"""

from __future__ import annotations

import builtins
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import autograd, callers, claims, classes, devices, specialised, tensors
from torchdevlint.infer.alike import MOST_ALIKE, Alike, alike
from torchdevlint.infer.annotated import says_tensor
from torchdevlint.infer.calls import bind, fill
from torchdevlint.infer.context import Context
from torchdevlint.infer.evaluation import Evaluation, under_conditions
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.imports import Files, Global, qualified_in
from torchdevlint.infer.joins import join, one_of
from torchdevlint.infer.kept import Kept, ModuleRun
from torchdevlint.infer.reading import ITEMS
from torchdevlint.infer.replay import Replay
from torchdevlint.infer.state import NO_FACTS, Heap, without_looked_up
from torchdevlint.infer.stored import FILES
from torchdevlint.infer.summary import LEAF, Fault, Heard, Summary
from torchdevlint.infer.units import Unit
from torchdevlint.infer.values import (
    HOST,
    MANY,
    NONE,
    NOTHING,
    NOWHERE,
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
    Tup,
    Value,
    alternatives,
    options_of,
    waits,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup, reads
from torchdevlint.source import deadline, grounds
from torchdevlint.stubs.loader import Stubs, public

if TYPE_CHECKING:
    from torchdevlint.infer.recorder import Recorder

Seen = Mapping[tuple[int, str], str]
"""Where a run saw what is given as a parameter: devices as PyTorch spells them, by the identity of the body and the parameter's name."""

MOST_REPLAYS = 4_000  # calls run again, for a function, a class that others use, or the module
MOST_RECURSIVE = 100  # ... of functions that are being run already
MOST_CHANGED = 100  # objects that a function changes; real ones change up to 60
MOST_STEPS = (
    20_000  # terms run again, for the same; a class of 2,000 lines takes 16,000, a file of 6,000 operations 4,000
)
OF_PROGRAM = 8  # times as much, for a module that is run and for a function that it calls
MOST_OF_FILE = 5 * MOST_STEPS  # ... for all functions and classes of a file that others use
OWN_SELF = Term("own", "self")
_NOTHING_GIVEN: Mapping[str, Value] = MappingProxyType({})


class Analysis:
    """What is inferred of one file. `bounds` counts the limits that were hit; `kept` is what several files of a project share."""

    def __init__(
        self,
        program: ir.Program,
        path: str = "",
        files: Files | None = None,
        kept: Kept | None = None,
        seen: Seen | None = None,
    ) -> None:
        """`seen`: where a run of the program saw what its functions are given."""
        own = Unit(program, path) if kept is None else None
        self.kept = kept if kept is not None else Kept(files if path else None, own)
        self.unit = own or self.kept.imports.unit(path) or Unit(program, path)
        self.settings = Ref("settings")
        self._seen = seen or {}
        self.heard = Heard()  # of what runs now
        self.faults: dict[tuple[int, int, str], Fault] = {}
        self._ways: dict[tuple[int, int, str], dict[ir.Body | None, Fault]] = {}  # what is open, by where it is entered
        self.met: set[tuple[Site, Site | None]] = set()
        self._heard_by: dict[Unit, bool] = {}  # whether a file asks this one what it breaks
        self.placed: set[tuple[ir.Class, bool]] = set()
        self.shown: set[tuple[Site, Site | None]] = set()  # met by what the file's module, or that of a caller, runs
        self.lists: set[Site] = set()
        self.passed: set[tuple[Site, ir.Body]] = set()
        self.calls: set[ir.Body] = set()  # the bodies that the file's code calls, its own and those of other files
        self._called_elsewhere: set[ir.Body] = set()
        self._open_elsewhere: set[tuple[int, int, str]] = set()
        self._placed_elsewhere: set[tuple[int, int, str]] = set()  # ... where a caller names a device
        self.bounds: Counter[str] = Counter()
        self._running: dict[ir.Body, int] = {}
        self._grounds: dict[ir.Body, grounds.Ground | None] = {}  # of those that are running
        self._unfinished: dict[ir.Body, tuple[Summary, int]] = {}  # of a cycle whose first member is not done
        self._lowest = 0
        self._opened: dict[ir.Class, tuple[Heap, Ref]] = {}  # an object of each class, as its methods find it
        self._heap: Heap = {}
        self.roots = Heard()  # of all that somebody from outside may do
        self.recorder: Recorder | None = self.kept.recorder  # hears of every value and claim

    # ------------------------------------------------------------------------------------------------ names

    @property
    def stubs(self) -> Stubs:
        """What is known of foreign code."""
        return self.kept.stubs

    def unit_of(self, body: ir.Body) -> Unit:
        """The file that a body stands in."""
        return self.kept.imports.unit_of(body) or self.unit

    def unit_of_globals(self, value: Ref) -> Unit | None:
        """The file whose globals an object holds; None for any other object."""
        place = value.place
        return place[1] if isinstance(place, tuple) and place[0] == "globals" else None

    def named(self, unit: Unit, name: str) -> Value:
        """What a dotted name means at the top of a file."""
        head, _, rest = name.partition(".")
        found = unit.statics.get(head)
        if isinstance(found, Ext):
            return self.foreign(unit, f"{found.name}.{rest}" if rest else found.name)
        if found is None and not rest and (starred := self.starred(unit, name)):
            return self.foreign(unit, starred)
        return found if found is not None and not rest else Ext(name)

    def starred(self, unit: Unit, name: str) -> str:
        """The dotted name of what a file has under a name by `from module import *`, "" for nothing that is known."""
        if not unit.stars or name.startswith("_") or hasattr(builtins, name):
            return ""
        for star in unit.stars:
            qualified = qualified_in(star, name)
            if self.stubs.find(qualified) is not None or self.kept.imports.resolve(unit, qualified) is not None:
                return qualified
        return qualified_in(unit.stars[0], name) if len(unit.stars) == 1 else ""

    def foreign(self, unit: Unit, name: str) -> Value:
        """What is imported under a dotted name: something of the project, or something foreign."""
        offered = public(name)  # unless the project has a module of its own there
        found = self.kept.imports.resolve(unit, name) if not self.stubs.is_given(offered) else None
        if found is None or (isinstance(found, Ext) and self.stubs.is_home(offered)):
            return Ext(offered)
        if isinstance(found, Global):
            module = self.module_of(found.unit)
            value = module.value_of(found) if module is not None else None
            return value if value is not None else Ext(name)
        if isinstance(found, (Func, Cls)):
            self.module_of(self.unit_of(found.body if isinstance(found, Func) else found.cls.body))
        return found

    def field_of(self, cls: ir.Class, name: str) -> tuple[ir.Annotation, Unit] | None:
        """What a class of the project says that an attribute is, and the file in which it says so."""
        found = classes.annotation_of_field(self, cls, name)
        return (found[0], self.unit_of(found[1].body)) if found is not None else None

    def result_of(self, cls: ir.Class, name: str) -> tuple[ir.Annotation, Unit] | None:
        """What a class of the project says that a method of it gives, and the file in which it says so."""
        method = next((one.methods[name] for one in classes.bases_of(self, cls) if name in one.methods), None)
        if method is None or method.returns is None or method.is_async or method.is_generator:
            return None
        return method.returns, self.unit_of(method)

    def class_of_receiver(self, value: Value) -> Cls | None:
        """The class, where a value is the first parameter of a method."""
        if isinstance(value, Term) and value.op == "parameter":
            return self.unit_of(value.args[0]).receivers.get(value)
        return None

    def is_receiver_of_module(self, value: Value) -> bool:
        """True for the `self` of a module's method."""
        found = self.class_of_receiver(value)
        return found is not None and classes.is_module(self, found.cls)

    def is_forward(self, body: ir.Body) -> bool:
        """True for the `forward` of a module."""
        return body.name == "forward" and body.owner is not None and classes.is_module(self, body.owner)

    # ------------------------------------------------------------------------------------------------ summaries

    def hit(self, bound: str) -> None:
        """Counts a limit."""
        self.heard.bounds[bound] += 1

    def may_replay(self, *, recursive: bool = False) -> bool:
        """Whether another call may be run."""
        heard = self.heard
        heard.replays += 1
        heard.recursive += recursive
        return (
            heard.replays <= MOST_REPLAYS * heard.scale
            and heard.steps <= MOST_STEPS * heard.scale
            and not (recursive and heard.recursive > MOST_RECURSIVE)
        )

    def may_step(self) -> bool:
        """Whether another term may be run: what calls each other in many ways would take forever."""
        deadline.check()
        heard = self.heard
        heard.steps += 1
        most = MOST_STEPS * heard.scale
        if heard.steps <= most:
            return True
        if heard.steps == most + 1:
            self.hit("work on one function or class")
        return False

    def module_of(self, unit: Unit) -> ModuleRun | None:
        """A file's module as the program that it is, run once; None while it runs."""
        runs = self.kept.runs
        if unit in runs:
            grounds.rest_on(unit.ground)
            return runs[unit]
        runs[unit] = None
        ctx = Context(self, unit, "module", unit.program.module)
        ctx.heap[unit.globals] = Rec("frame")
        ctx.heap[self.settings] = Rec("frame")
        begun = grounds.begin()
        unit.ground = begun and begun[1]
        try:
            with self._hearing(OF_PROGRAM) as heard:
                Evaluation(ctx, unit.program.module, {}, None).run()
        except BaseException:
            del runs[unit]
            raise
        finally:
            grounds.end(begun)
        made = runs[unit] = ModuleRun(ctx.heap, heard)
        return made

    @contextmanager
    def _hearing(self, scale: int = 1) -> Iterator[Heard]:
        """Something that is told, and bounded, by itself: who asks for it first makes no difference. `scale`: of the limits on work."""
        saved, self.heard = self.heard, Heard(scale=scale)
        try:
            yield self.heard
        finally:
            self.heard = saved

    def summary(self, body: ir.Body) -> Summary | None:
        """The summary of a function; None while it is being made: a call of itself stays open.

        Functions that call each other are done together (the strongly connected components of Tarjan, found on the way). What they call of
        each other stays open, so that the result does not depend on which of them was asked for first.
        """
        self.heard.asked[body] = None
        known = self.kept.summaries.get(body)
        if known is not None:
            grounds.rest_on(known.ground)
            return known
        if body in self._running:
            self._lowest = min(self._lowest, self._running[body])
            grounds.rest_on(self._grounds[body])
            return None
        if body in self._unfinished:
            unfinished, lowest = self._unfinished[body]
            self._lowest = min(self._lowest, lowest)
            grounds.rest_on(unfinished.ground)
            return unfinished
        position = self._running[body] = len(self._running)
        outer, self._lowest = self._lowest, position
        begun = grounds.begin()
        self._grounds[body] = begun and begun[1]
        try:
            deadline.check()
            with self._hearing(self._scale(body)) as heard:
                found = self._summarise(body)
            found.heard, found.ground = heard, self._grounds[body]
        finally:
            grounds.end(begun)
            del self._running[body], self._grounds[body]
            lowest, self._lowest = self._lowest, min(outer, self._lowest)
            if lowest >= position:
                self._lowest = outer
                cycle = {other: one for other, (one, low) in self._unfinished.items() if low >= position}
                for other in cycle:
                    del self._unfinished[other]
        if lowest < position:
            self._unfinished[body] = found, lowest
            return found
        cycle[body] = found
        members = frozenset(cycle)
        for other, one in cycle.items():
            one.cycle = members
            self.kept.summaries[other] = one
        return found

    def _scale(self, body: ir.Body) -> int:
        """The limits on the work on a function: `main` is a whole program, that makes models, trains them and runs them in turn."""
        unit = self.unit_of(body)
        return OF_PROGRAM if body.parent is unit.program.module and body.name in unit.programs else 1

    def is_unfinished(self, body: ir.Body) -> bool:
        """True for a function of a cycle that is being summed up: what its summary says of the others is not all that there is."""
        return body in self._unfinished

    def _summarise(self, body: ir.Body) -> Summary:
        unit = self.unit_of(body)
        ctx = Context(self, unit, "summary", body)
        ctx.most_events *= self.heard.scale
        env: dict[str, Value] = {}
        for parameter in body.parameters:
            term = env[parameter.name] = Term("parameter", body, parameter.name)
            if (
                parameter.annotation is not None
                and parameter.kind not in ("*", "**")
                and says_tensor(parameter.annotation)
            ):
                ctx.proven.add(term)
        ctx.weak |= self.inputs(body)
        frame = ctx.frame(body, env, Term("parameter", body, "@frame"))
        done = Evaluation(ctx, body, env, frame).run()
        summary = Summary(ctx.events, {}, NONE, ctx.made, ctx.proven, ctx.heap, turns=ctx.turns_of_events)
        if body.is_generator:
            inner = under_conditions(done.yields, is_once=False) if done.yields else UNKNOWN
            returned = done.returned()
            fields: dict[Any, Value] = {"*": inner} if returned == NONE else {"*": inner, "return": returned}
            if done.in_order and len({facts for facts, _ in done.yields}) == 1 and not body.is_async:
                fields[ITEMS] = Tup(tuple(done.in_order))
            summary.result = ctx.new(None, "generator", None, fields, tag=("generator", body))
            summary.heap = ctx.heap
        else:
            summary.result = done.returned()
        summary.goes_over = specialised.gone_over(body)
        summary.raised, summary.trained, summary.passed = tuple(ctx.raised), ctx.trained, done.passed
        for heap in ctx.raised.values():
            summary.heap = {**{place: rec for place, rec in heap.items() if rec.kind != "overlay"}, **summary.heap}
        written = {
            place: without_looked_up(_not_shown(ctx, place, rec))
            for place, rec in ctx.heap.items()
            if rec.kind == "overlay" and not (isinstance(place, Ref) and place.place in ctx.made)
        }
        summary.effects = {place: rec for place, rec in written.items() if rec.fields}
        if len(summary.effects) > MOST_CHANGED:
            self.hit("effects of a function")
            summary.effects = dict(itertools.islice(summary.effects.items(), MOST_CHANGED))
        return summary

    def inputs(self, body: ir.Body) -> set[Term]:
        """The parameters of a module's `forward` that may be tensors: one that meets a tensor is one."""
        if not self.is_forward(body):
            return set()
        plain = [one.name for one in body.parameters[1:] if one.default is None and _may_be_tensor(one)]
        return {Term("parameter", body, name) for name in plain}

    # ------------------------------------------------------------------------------------------------ faults

    def report(self, fault: Fault, ctx: Context) -> None:
        """Keeps a fault, one for each pair of places; what is broken stands above what is open."""
        if self.recorder is not None:
            self.recorder.reported(fault)
        if fault.verdict == "open" and not self._may_be_broken(fault):
            return
        if ctx.choice is not None and not self._is_of_any(fault):
            ctx.choice.keep(fault)
            return
        entry = fault.entry
        is_inherited = ctx.mode == "root" and entry is not None and self.unit_of(entry) is not self.unit
        if is_inherited and fault.verdict == "open" and fault.place.unit is self.unit:
            fault = fault._replace(
                told=fault.place
            )  # a method of another file, of an object of a class that is defined here
        self.heard.keep(fault)

    def _is_of_any(self, fault: Fault) -> bool:
        """True for an input that this file leaves on the CPU for a model that was moved: whichever of several models it is."""
        return fault.verdict == "broken" and fault.roles == ("input", "module") and fault.place.unit is self.unit

    def _may_be_broken(self, fault: Fault) -> bool:
        """False for what a module's constructor is given, before anything moves, and for what nobody knows anything of."""
        place = fault.other.device
        if place == OWN_SELF:
            return True
        made, beside = fault.other.origin, fault.host.origin if fault.host is not None else None
        made = None if made is not None and _is_move(made) else made
        if isinstance(place, Term) and place.op == "as_device" and made is not None and beside is not None:
            is_of_nobody = _origin_of(place.args[0]) in ("unknown", "top")
            if made.body is beside.body or not is_of_nobody:
                return True  # the function says where the other is to be made, or gives its caller the choice
        entry = fault.chain[-1].body if fault.chain else fault.site.body
        if entry is not None and entry.name == "__init__" and entry.owner is not None:
            return not classes.is_module(self, entry.owner)
        return not (isinstance(place, Term) and _origin_of(place.args[0]) in ("unknown", "top"))

    def decided(self) -> list[Fault]:
        """The faults to tell of in this file; what is open is told once for each function where somebody from outside may enter.

        What a caller meets is said so: a program has no other callers.
        """
        read_on_host, reached = self._read_on_host(), self.calls | self._called_elsewhere
        faults = [
            _brought(fault) if self._is_brought(fault) else fault
            for fault in self.faults.values()
            if fault.verdict == "broken"
        ]
        faults += [
            way for key, ways in self._ways.items() if self.faults[key].verdict == "open" for way in ways.values()
        ]
        return [
            fault._replace(
                is_settled=self._is_settled(fault),
                is_reached=(is_reached := fault.entry in reached),
                is_called=is_reached and fault.key not in self._placed_elsewhere,
                is_entered_at_module=self._is_method_of_module(fault.entry),
                is_passed_on=self._is_passed_on(fault),
                is_shown=fault.verdict == "open" and self._is_met(fault, self.shown),
                is_met=fault.verdict == "open" and self._is_met(fault, self.met | self.shown),
            )
            for fault in faults
            if fault.told_at.unit is self.unit
            and fault.may_be_mended
            and not (fault.verdict == "broken" and self._is_told_there(fault))
            and (fault.verdict == "broken" or self._may_be_told(fault, read_on_host))
        ]

    def _is_brought(self, fault: Fault) -> bool:
        """True where this file lets meet in a second one what a third one makes, and neither of those tells of it, or what that one makes, and does not
        ask this file.
        """
        if fault.is_brought:
            return True  # as one that it has heard of
        if fault.told_at.unit is not self.unit:
            return self._is_left_to(self.unit, fault)
        made = fault.host.origin if fault.host is not None else None
        if fault.may_be_mended or made is None or made.unit is fault.site.unit:
            return False
        return not self._is_told_there(fault)

    def _is_left_to(self, unit: Unit, fault: Fault) -> bool:
        """True for the file of the outermost call that leads to a fault, where the file that would tell of it does not ask this one."""
        is_outermost = bool(fault.chain) and fault.chain[-1].unit is unit and fault.told_at.unit is not unit
        return is_outermost and not self._is_heard_by(fault.told_at.unit)

    def _is_heard_by(self, unit: Unit) -> bool:
        """True for a file that asks this one what it breaks. By its path: it may ask another text of this file, as in an editor."""
        if unit not in self._heard_by:
            asked = callers.of(self.kept.analysis(unit.path))
            self._heard_by[unit] = any(one.unit.path == self.unit.path for one in asked)
        return self._heard_by[unit]

    def _is_told_there(self, fault: Fault) -> bool:
        """True for what other files make and let meet, where one of them tells of it: it hears of the calls that break it."""
        made = fault.host.origin if fault.host is not None else None
        if made is None or self.unit in (made.unit, fault.site.unit):
            return False
        ends = dict.fromkeys((made.unit, fault.site.unit))
        if any(_is_same(other, fault) for unit in ends for other in self._faults_of(unit)):
            return True
        between = dict.fromkeys(way.unit for way in fault.chain if way.unit is not self.unit and way.unit not in ends)
        return any(
            _is_same(other, fault) and other.verdict == "broken" and other.told_at.unit is unit and other.may_be_mended
            for unit in between
            for other in self._faults_of(unit)
        )

    def _faults_of(self, unit: Unit) -> Iterable[Fault]:
        return self.kept.analysis(unit.path).faults.values()

    def _is_method_of_module(self, body: ir.Body | None) -> bool:
        return body is not None and body.owner is not None and classes.is_module(self, body.owner)

    def _read_on_host(self) -> set[Place]:
        return {
            fault.other.device
            for fault in self.faults.values()
            if fault.verdict == "open" and fault.kind == "host" and fault.roles[1] != LEAF
        }

    def hear_callers(self) -> Analysis:
        """What files that call this one break, and meet, of what its functions claim."""
        for caller in callers.of(self):
            read_on_host = caller._read_on_host()
            for fault in caller.faults.values():
                own = self.faults.get(fault.key, fault)
                if fault.verdict == "broken" and self.unit in (fault.told_at.unit, own.told_at.unit):
                    self._keep(fault)
                elif fault.verdict == "broken" and caller._is_left_to(self.unit, fault):
                    self._keep(_brought(fault))
                elif fault.told_at.unit is self.unit:
                    self._open_elsewhere.add(fault.key)
                    if isinstance(fault.other.device, Term) and fault.other.device.op == "as_device":
                        self._placed_elsewhere.add(fault.key)
                    if (
                        fault.entry is not None
                        and caller.is_forward(fault.entry)
                        and caller._is_told(fault, read_on_host)
                        and not caller._is_passed_on(fault)
                    ):
                        self._keep(fault)  # for whoever calls the module
            self.met |= {(site, origin) for site, origin in caller.met if site.unit is self.unit}
            self.placed |= caller.placed
            self.shown |= {(site, origin) for site, origin in caller.shown if site.unit is self.unit}
            self.lists |= caller.lists
            self._called_elsewhere |= {body for body in caller.calls if self.unit_of(body) is self.unit}
        return self

    def _is_settled(self, fault: Fault) -> bool:
        """True for a claim that a function leaves to its callers, of which other files have some, and which none of those leaves open or breaks.

        What a model claims one of them must meet: it may be that nobody knows where its inputs are.
        """
        is_left = fault.verdict == "open" and fault.other.device != OWN_SELF and waits(fault.other.device)
        is_of_model = fault.site.body is not None and fault.site.body.name == "forward"
        is_met = (fault.site, fault.host.origin if fault.host is not None else None) in self.met | self.shown
        is_called = fault.entry in self._called_elsewhere and (is_met or not is_of_model)
        return is_left and is_called and fault.key not in self._open_elsewhere

    def _is_passed_on(self, fault: Fault) -> bool:
        """True where the callers of the entry are asked in its place, and none of them knows more."""
        is_asked = fault.other.device != OWN_SELF and (fault.host is not None or fault.kind == "host")
        return (
            is_asked
            and fault.verdict == "open"
            and fault.roles != claims.RETURNED
            and (fault.site, fault.entry) in self.passed
            and waits(fault.other.device)
        )

    def _is_told(self, fault: Fault, read_on_host: set[Place]) -> bool:
        return self._may_be_told(fault, read_on_host) and not self._is_met(fault, self.met)

    def _may_be_told(self, fault: Fault, read_on_host: set[Place]) -> bool:
        if fault.roles == claims.RETURNED:  # its callers show what they do with it
            return fault.entry not in self.calls and fault.entry not in self._called_elsewhere
        if fault.other.device == OWN_SELF:
            return True
        # the same function reads it as an array: it is on the CPU, or nothing works
        return fault.host is None or fault.other.device not in read_on_host

    def _is_met(self, fault: Fault, met: set[tuple[Site, Site | None]]) -> bool:
        """Whether calls that are known meet a claim that is open for others.

        Of a module that is not so where a program that never moves it calls it; one that brings it back to the CPU knows what it calls there.
        """
        owner = fault.entry.owner if fault.entry is not None else None
        if fault.roles == claims.RETURNED:
            return False
        if fault.other.device == OWN_SELF and not (
            owner is not None and {(owner, True), (owner, False)} <= self.placed
        ):
            return False
        if fault.host is None:
            return (fault.site, None) in met
        if (fault.roles == ("input", "module") or fault.host.implicit == "batch") and (fault.site, None) in met:
            return True  # a caller shows what its loader gives, and its model
        return (fault.site, fault.host.origin) in met

    # ------------------------------------------------------------------------------------------------ roots

    def run(self) -> Analysis:
        """The module as the program that it is, then what somebody from outside may do with its parts."""
        program = self.unit.program
        module = self.module_of(self.unit)
        assert module is not None
        self._heap = module.heap
        heard, called, seen = Heard(), set[ir.Body](), set[ir.Body]()

        def add(one: Heard) -> None:
            called.update(*(told.called for told in self._told_by(one, seen=seen)))

        add(module.heard)
        factories: Counter[Alike] = Counter()
        for cls in program.classes:
            add(self._root(heard, cls))
        for body in program.bodies:
            is_nested = body.parent is not None and body.parent.kind != "module"
            is_open = body.kind == "function" and body.owner is None
            if not is_open or (is_nested and body in called):
                continue
            kind = alike(body)
            if kind is not None:
                factories[kind] += 1
            if kind is not None and factories[kind] > MOST_ALIKE:
                heard.bounds["factories that differ in constants"] += 1
            else:
                add(self._root(heard, body))
        self._heap = {}
        self.roots, self.calls = heard, called
        for one in self._told_by(module.heard, heard):
            met = self.shown if one is module.heard else self.met
            met |= one.met
            self.placed |= one.placed
            self.lists |= one.lists
            self.passed |= one.passed
            self.bounds += one.bounds
            for fault in one.told:
                if not (one is heard and fault.verdict == "broken" and self._is_run_again(fault)):
                    self._keep(fault)
        self.bounds += self.unit.bounds
        return self

    def _is_run_again(self, fault: Fault) -> bool:
        """True for what the program itself does: it calls the function in another state than the one that its end leaves."""
        is_program = fault.entry is not None and fault.entry.name in self.unit.programs
        return self._is_met(fault, self.shown) or (is_program and (fault.site, None) in self.shown)

    def summaries_reached(self) -> dict[ir.Body, Summary]:
        """The summaries of this file's functions that its own module and roots asked for, whoever else has asked for others."""
        module = self.kept.runs.get(self.unit)
        return self._reached(self.roots, *([module.heard] if module is not None else ()))

    def heard_all(self) -> list[Heard]:
        """What the file's module and its roots told, also by the summaries that were asked for on the way."""
        module = self.kept.runs.get(self.unit)
        return self._told_by(self.roots, *([module.heard] if module is not None else ()))

    def _keep(self, fault: Fault) -> None:
        self.faults[fault.key] = fault.joined(self.faults.get(fault.key))
        if fault.verdict == "open":
            ways = self._ways.setdefault(fault.key, {})
            ways[fault.entry] = fault.joined(ways.get(fault.entry))

    def _reached(self, *heard: Heard, seen: set[ir.Body] | None = None) -> dict[ir.Body, Summary]:
        """The summaries of this file's functions that were asked for, also on the way through those of others; none that was `seen` before."""
        found: dict[ir.Body, Summary] = {}
        pending, seen = [*heard], set() if seen is None else seen
        while pending:
            for body in pending.pop().asked:
                summary = self.kept.summaries.get(body) if body not in seen else None
                if summary is not None:
                    seen.add(body)
                    pending.append(summary.heard)
                    if self.unit_of(body) is self.unit:
                        found[body] = summary
        return found

    def _told_by(self, *heard: Heard, seen: set[ir.Body] | None = None) -> list[Heard]:
        """What was told, also by the summaries of this file's functions that were asked for on the way."""
        return [*heard, *(summary.heard for summary in self._reached(*heard, seen=seen).values())]

    def _root(self, heard: Heard, root: ir.Class | ir.Body) -> Heard:
        """Adds what a root tells, and gives it, once it is known; each has its limits, and all together have one."""
        known = self.kept.roots.get(root) if self.kept.roots is not None else None
        if heard.steps > MOST_OF_FILE:
            heard.bounds["work on one file"] += 1
            return Heard()
        if known is None:
            with self._hearing() as known:
                self._root_class(root) if isinstance(root, ir.Class) else self._root_function(root)
            if self.kept.roots is not None:
                self.kept.roots[root] = known
        heard.add(known)
        return known

    def _outside(self) -> Context:
        ctx = Context(self, self.unit, "root")
        ctx.heap = dict(self._heap)
        return ctx

    def _root_function(self, body: ir.Body) -> None:
        summary = self.summary(body)
        if summary is None or body.parent is None:
            return
        ctx = self._outside()
        parameters = self.open_parameters(body, summary)
        outer: Value = self.unit.globals if body.parent.kind == "module" else Term("parameter", body, "@frame")
        result = Replay(ctx, summary, body, {**parameters, "@frame": outer}, None).run()
        ctx.facts = NO_FACTS
        for one in alternatives(result):
            if isinstance(one, Func) and one.body.parent is body and one.frame is not None:
                self._call_made(ctx, one)

    def _call_made(self, ctx: Context, function: Func) -> None:
        """A function that another one makes and gives back is called by whoever called that."""
        summary = self.summary(function.body)
        if summary is not None:
            parameters = {**bind(ctx, function, [], {}, None), **self.open_parameters(function.body, summary)}
            Replay(ctx, summary, function.body, parameters, None).run()

    def open_parameters(self, body: ir.Body, summary: Summary, skipped: int = 0) -> dict[str, Value]:
        """What somebody from outside gives: tensors on devices of their own where use proves them, and else who knows what."""
        found: dict[str, Value] = {}
        constants = dict(classes.defaults_of(body))
        for parameter in body.parameters[skipped:]:
            term = Term("parameter", body, parameter.name)
            value: Value = Tensor(Term("own", term), MANY) if term in summary.proven else term
            seen = self._seen.get((id(body), parameter.name))
            if seen is not None and isinstance(place := devices.as_device(self._outside(), Const(seen)), str):
                value = Tensor(place, MANY)
            if parameter.default is not None and constants.get(parameter.name) == NONE:
                asked = Term("is_none", term)
                value = one_of([(frozenset({(asked, False)}), value), (frozenset({(asked, True)}), NONE)])
            found[parameter.name] = self._default(body, parameter) or value
        return found

    def _default(self, body: ir.Body, parameter: ir.Parameter) -> Value | None:
        """The function or data type that a parameter is where nobody gives one: `kernel=gaussian`, `activation=F.relu`, `precision=torch.half`."""
        if parameter.default is None or body.parent is None:
            return None
        unit, lookup = self.unit_of(body), Lookup.of(body.parent)
        written = lookup.definition(parameter.default)
        if isinstance(written, ir.MakeFunction):
            return Func(written.function, unit.globals)
        found = self.named(unit, lookup.path(parameter.default))
        if isinstance(found, Ext):
            is_dtype = devices.is_dtype(found) and found.name.rpartition(".")[2].islower()  # a class may be any
            return found if is_dtype or self.stubs.functions(found.name) else None
        return found if isinstance(found, Func) else None

    @contextmanager
    def unheard(self, heap: Heap) -> Iterator[None]:
        """What is run again, in the heap of a module, tells nothing that was not told."""
        recorder, self.recorder = self.recorder, None
        saved, self._heap = self._heap, heap
        try:
            with self._hearing():
                yield
        finally:
            self.recorder, self._heap = recorder, saved

    def open_object(self, cls: ir.Class) -> tuple[Heap, Ref]:
        """An object of a class as its methods find it, and the heap that it lives in."""
        if cls not in self._opened:
            ctx, ref, *_ = self._made_open(cls)
            self._opened[cls] = ctx.heap, ref
        return self._opened[cls]

    def _root_class(self, cls: ir.Class) -> None:
        """A class is made by a constructor that gets what its use proves, moved where a module is moved, and each method is called.

        Where it keeps tensors on a device that nobody needs to name, it is made without one as well.
        """
        ctx, ref, methods, begun = self._made_open(cls)
        self._opened[cls] = dict(ctx.heap), ref
        self._call_methods(cls, ctx, ref, methods, begun)
        unnamed = self._devices_kept(cls, begun[ref]) if classes.is_module(self, cls) else {}
        if unnamed:
            self._call_methods(cls, *self._made_open(cls, unnamed))

    def _devices_kept(self, cls: ir.Class, made: Rec) -> dict[str, Value]:
        """The parameters of the constructor, None by default, that say where tensors are which the object keeps."""
        init = cls.methods.get("__init__")
        named = {one.name for one in init.parameters if one.default is not None} if init is not None else set()
        kept = [one.device for content in made.fields.values() for one in _tensors_of(content)]
        given = [place.args[0] for place in kept if isinstance(place, Term) and place.op == "as_device"]
        names = {one.args[1] for one in given if one.op == "parameter" and one.args[0] is init}
        constants = dict(classes.defaults_of(init)) if init is not None and names else {}
        return {name: NONE for name in names & named if constants.get(name) == NONE}

    def _call_methods(self, cls: ir.Class, ctx: Context, ref: Ref, methods: list[ir.Body], begun: Heap) -> None:
        first = {method: self._before_first(ctx, ref, method, methods, begun) for method in methods}
        ctx.mute = False
        of_autograd = autograd.steps(cls) if classes.is_function_of_autograd(self, cls) else []
        if of_autograd:
            self._pass(ctx, Cls(cls, self.unit.globals), of_autograd)
        for method in (*methods, *self._methods_without_object(cls)):
            if method in of_autograd:
                continue
            heap = ctx.heap
            for found in (heap, first.get(method)):
                if found is not None:
                    ctx.heap, ctx.is_first = dict(found), found is not heap
                    self._call_open(ctx, method, ref)
            ctx.heap, ctx.is_first = heap, False
        heap_of_methods = ctx.heap
        for setter in methods:
            left = self._left_on_host(ctx, ref, setter, methods, begun)
            for method in methods if left is not None else ():
                if method is not setter and method not in of_autograd:
                    ctx.heap = dict(left or {})
                    self._call_open(ctx, method, ref)
            ctx.heap = heap_of_methods

    def _left_on_host(
        self, ctx: Context, ref: Ref, setter: ir.Body, methods: list[ir.Body], begun: Heap
    ) -> Heap | None:
        """What the next method finds behind one that makes a tensor anew on the CPU which the constructor has made elsewhere: `reset`, `load`.

        None where there is no such tensor, and where some method moves it: whoever calls the one calls the other.
        """
        placed = {key for key, content in begun[ref].fields.items() if _is_placed(content)}
        placed &= _attributes_changed(self.summary(setter))
        if not placed:
            return None
        heap, muted = ctx.heap, ctx.mute
        ctx.heap, ctx.mute = dict(begun), True
        self._call_open(ctx, setter, ref)
        found, ctx.heap, ctx.mute = ctx.heap, heap, muted
        given = {key: tensors.as_tensor(ctx, content) for key, content in found[ref].fields.items() if key in placed}
        fields = {key: content for key, content in given.items() if _is_on_host(content)}
        moved = {key for one in methods if one is not setter for key in _attributes_moved(self.summary(one))}
        fields = {key: content for key, content in fields.items() if key not in moved and _is_made_anew(content)}
        if not fields:
            return None
        begun_with = begun[ref]
        return {**begun, ref: Rec(begun_with.kind, begun_with.cls, {**begun_with.fields, **fields})}

    def _pass(self, ctx: Context, cls: Cls, steps: list[ir.Body]) -> None:
        """A pass forward and one backward through a function of autograd, with what somebody from outside gives."""
        heap, ctx.heap = ctx.heap, dict(ctx.heap)
        context: Value = autograd.new_context(ctx, None)
        is_apart = autograd.has_setup(ctx, cls)
        given: list[Value] = []
        result: Value = UNKNOWN
        for method in steps:
            summary = self.summary(method)
            if summary is None:
                continue
            if method.name == "forward":
                parameters = self.open_parameters(method, summary, skipped=not is_apart)
                given = list(parameters.values())
                first = {} if is_apart else {one.name: context for one in method.parameters[:1]}
                parameters = {"@frame": self.unit.globals, **first, **parameters}
            else:
                backward = autograd.gradients(ctx, result)
                args = [Tup(tuple(given)), result] if method.name == "setup_context" else backward
                parameters = bind(ctx, Func(method, self.unit.globals), [context, *args], {}, None)
            made = Replay(ctx, summary, method, parameters, None).run()
            result = made if method.name == "forward" else result
            ctx.facts = NO_FACTS
        ctx.heap = heap

    def _before_first(
        self, ctx: Context, ref: Ref, method: ir.Body, methods: list[ir.Body], begun: Heap
    ) -> Heap | None:
        """What the first call of a method finds, where later calls find in an attribute another tensor than that which the constructor left on the CPU.

        `begun` is what the constructor left, with the module where it is moved.
        """
        on_host = {key for key, content in begun[ref].fields.items() if _is_on_host(content)}
        if on_host.isdisjoint(_attributes_changed(self.summary(method))):
            return None
        of_class = {name for one in methods for name in self.unit_of(one).attributes_read(one)}
        inside = self._reached(Heard(asked={method: None}))
        heap, ctx.heap = ctx.heap, dict(begun)
        for other in methods:
            is_part = other is method or other in inside or (other.name.startswith("_") and other.name in of_class)
            if not is_part and not on_host.isdisjoint(_attributes_changed(self.summary(other))):
                self._join_attributes(ctx, ref, other)
        found, ctx.heap = ctx.heap, heap
        return found

    def _made_open(
        self, cls: ir.Class, given: Mapping[str, Value] = _NOTHING_GIVEN
    ) -> tuple[Context, Ref, list[ir.Body], Heap]:
        """An object as its methods find it, in a context that tells nothing, the methods, and the heap before one of them was called.

        `given`: what the constructor gets; anything else is what somebody from outside gives.
        """
        ctx = self._outside()
        value = Cls(cls, self.unit.globals)
        is_module = classes.is_module(self, cls)
        ctx.mute = True
        fields = {"@device": HOST} if is_module else {}
        ref = ctx.new(None, "module" if is_module else "object", value, fields, tag=("open", cls))
        init = classes.attribute_of(ctx, value, "__init__", ref)
        if isinstance(init, Func):
            ctx.mute = False
            self._call_open(ctx, init.body, ref, {**(_objects_by_default(ctx, init) if is_module else {}), **given})
            ctx.mute = True
        elif not is_module and (
            names := [name for name, has_default in classes.field_names(self, cls) if not has_default]
        ):
            ctx.mute = False
            fill(ctx, value, ref, [], {**{name: Term("parameter", cls.body, name) for name in names}, **given}, None)
            ctx.mute = True
        if is_module:
            devices.move_module(ctx, ref, OWN_SELF)
        begun = dict(ctx.heap)
        files, fields = ctx.heap.get(FILES, Rec("files")), ctx.heap[ref].fields
        methods, made = self._methods(cls, fields), frozenset(fields)
        moved: dict[Any, set[Any]] = {}
        for method in (*methods, *self._setters(cls)):
            summary = self.summary(method)
            if summary is not None and summary.effects:
                heap = ctx.heap
                self._join_attributes(ctx, ref, method)
                for place, device in _moved_modules(heap, ctx.heap):
                    moved.setdefault(place, set()).add(device)
        for place, devices_of in moved.items():
            if len(devices_of) > 1 and place != ref:  # `__enter__` and `__exit__`: nobody knows which was called last
                ctx.heap[place] = ctx.heap[place].put("@device", NOWHERE)
        for key, content in ctx.heap[ref].fields.items() if is_module else ():
            if not (isinstance(key, str) and key.startswith("@")):
                # `net.build(); net.cuda()`, also of what the constructor has built before.
                fresh = [one for one in alternatives(content) if isinstance(one, Ref) and one not in begun]
                devices.carry(ctx, content if key not in made else one_of([(NO_FACTS, one) for one in fresh]), OWN_SELF)
        ctx.heap[FILES] = files  # what another method writes, it may write in another run of the program
        for name in _asked(methods):
            content = ctx.heap[ref].fields.get("." + name, NOTHING)
            if _is_flag(content) and self.kept.imports.may_set(self.unit, name):
                ctx.put(ref, "." + name, UNKNOWN)
        return ctx, ref, methods, begun

    def _methods_without_object(self, cls: ir.Class) -> list[ir.Body]:
        """The static and class methods of a class, which need no object of it; the `forward` of a function of autograd is one of them."""
        return [
            method
            for method in cls.methods.values()
            if method.needs_no_object
            and not method.name.startswith("__")
            and not self.unit.is_of_constructors(method.name)
        ]

    def _methods(self, cls: ir.Class, fields: Mapping[Any, Any]) -> list[ir.Body]:
        """The methods that others may call. One that is inherited from another file is judged there, unless it reads what this file defines, or has given
        to the constructor.
        """
        found: dict[str, ir.Body] = {}
        bases = classes.bases_of(self, cls)
        here = {name for one in bases if self.unit_of(one.body) is self.unit for name in self.unit.members(one)}
        here |= {key[1:] for key, value in fields.items() if isinstance(key, str) and self._is_of_this_file(value)}
        for one in bases:
            self.heard.looked_at.update(one.methods.values())
            for name, method in one.methods.items():
                unit = self.unit_of(method)
                is_of_object = method.parameters and not method.needs_no_object
                if name == "__init__" or not is_of_object or unit.is_of_constructors(name):
                    continue
                if unit is self.unit or name in found or not here.isdisjoint(unit.attributes_read(method)):
                    found.setdefault(name, method)
        return list(found.values())

    def _is_of_this_file(self, value: Value) -> bool:
        """True for a function that this file defines, and a tensor that it makes."""
        return any(
            (isinstance(one, Func) and self.unit_of(one.body) is self.unit)
            or (isinstance(one, Tensor) and one.origin is not None and one.origin.unit is self.unit)
            for one in alternatives(value)
        )

    def _setters(self, cls: ir.Class) -> Iterator[ir.Body]:
        """The public methods that take arguments and that constructors alone call here: somebody else may give them another one."""
        for method in cls.methods.values():
            if (
                not method.name.startswith("_")
                and len(method.parameters) > 1
                and not method.needs_no_object
                and self.unit_of(method).is_of_constructors(method.name)
            ):
                yield method

    def _call_open(self, ctx: Context, method: ir.Body, ref: Ref, given: Mapping[str, Value] = _NOTHING_GIVEN) -> None:
        """A method is called by somebody from outside, who gives what is `given` and else what its use proves."""
        summary = self.summary(method)
        if summary is None or not (method.parameters or method.is_static):
            return
        parameters = {**self.open_parameters(method, summary, skipped=0 if method.is_static else 1), **given}
        first: dict[str, Value] = {"@frame": self.unit_of(method).globals}
        if not method.is_static:
            first[method.parameters[0].name] = ctx.heap[ref].cls or UNKNOWN if method.is_class_method else ref
        ctx.weak |= self.inputs(method)
        Replay(ctx, summary, method, {**parameters, **first}, None).run()
        ctx.facts = NO_FACTS  # who calls the next one is somebody else

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
            before, after = old.fields.get(key), new.fields.get(key)
            several = [value for value in (before, after) if value is not None]
            joined = several[0] if before is after else join(*several)
            fields[key] = _placed(joined) if isinstance(key, str) and key.startswith(".") else joined
        ctx.heap[ref] = Rec(old.kind, old.cls, fields)


def _not_shown(ctx: Context, place: Any, rec: Rec) -> Rec:
    """What is written at the end, but for what something open was shown, and may have set to something else."""
    if not ctx.shown:
        return rec
    fields = {key: one for key, one in rec.fields.items() if ctx.shown.get((place, key)) is not one}
    return rec if len(fields) == len(rec.fields) else Rec(rec.kind, rec.cls, fields)


def _moved_modules(before: Heap, after: Heap) -> Iterator[tuple[Any, Any]]:
    """The modules that are elsewhere than before, and where."""
    for place, rec in after.items():
        old = before.get(place)
        if old is not None and rec is not old and rec.kind == "module":
            device = rec.fields.get("@device")
            if device != old.fields.get("@device"):
                yield place, device


def _origin_of(value: object) -> str:
    """The operation that a term goes back to: "parameter" for what is computed from an argument."""
    while isinstance(value, Term):
        inner = next((one for one in value.args if isinstance(one, Term)), None) if value.op == "binary" else None
        inner = value.args[0] if inner is None and value.args else inner
        if not isinstance(inner, Term):
            break
        value = inner
    return value.op if isinstance(value, Term) else ""


def _objects_by_default(ctx: Context, function: Func) -> dict[str, Value]:
    """The objects of the project's classes that parameters are where nobody gives one: `Layer(basis=Fourier(5))`. Others do what these do."""
    found = {name: ctx.rec(value) for name, value in function.defaults if isinstance(value, Ref)}
    kept = {name for name, rec in found.items() if rec is not None and isinstance(rec.cls, Cls)}
    return {name: value for name, value in function.defaults if name in kept}


def _is_flag(value: Value) -> bool:
    """True for one or several constants."""
    return value != NOTHING and all(isinstance(one, Const) for one in alternatives(value))


def _asked(methods: Iterable[ir.Body]) -> Iterator[str]:
    """The attributes that conditions of methods ask for: `if self.is_ready:`, `if self.step == 1:`."""
    for method in methods:
        lookup = Lookup.of(method)
        pending = [block.test for block in method.blocks if block.test is not None]
        while pending:
            read = lookup.definition(pending.pop())
            if isinstance(read, ir.Attribute):
                yield read.name
            elif isinstance(read, (ir.Compare, ir.Unary)):
                pending += reads(read)


def _attributes_changed(summary: Summary | None) -> set[Any]:
    """The attributes of its object that a method sets."""
    receivers = [rec for place, rec in (summary.effects.items() if summary is not None else ()) if _is_receiver(place)]
    return {key for rec in receivers for key in rec.fields}


def _is_receiver(place: object) -> bool:
    if not isinstance(place, Term) or place.op != "parameter":
        return False
    body, name = place.args
    return bool(body.parameters) and body.parameters[0].name == name


def _tensors_of(content: object) -> list[Tensor]:
    several = alternatives(content) if isinstance(content, (Tensor, OneOf)) else ()
    return [one for one in several if isinstance(one, Tensor)]


def _is_on_host(content: object) -> bool:
    return isinstance(content, Tensor) and content.device == HOST


def _is_placed(content: object) -> bool:
    """True for a tensor that is where somebody said, and nobody said the CPU."""
    several = _tensors_of(content)
    return bool(several) and all(one.device not in (HOST, NOWHERE, OWN_SELF) and not one.follows for one in several)


def _is_made_anew(content: object) -> bool:
    """True for a tensor of which nothing says that it is meant to be on the CPU: one that is made there, or taken from a file."""
    return all(
        one.origin is not None and one.origin.body is not None and not _is_move(one.moved)
        for one in _tensors_of(content)
    )


def _is_move(site: Site | None) -> bool:
    """True for `x.cpu()`, and not for a load that names a device."""
    if site is None or site.body is None or not isinstance(site.op, ir.Call):
        return site is not None
    return Lookup.of(site.body).called(site.op) in devices.MOVES


def _attributes_moved(summary: Summary | None) -> set[Any]:
    """The attributes of its object that a method moves."""
    receivers = [rec for place, rec in (summary.effects.items() if summary is not None else ()) if _is_receiver(place)]
    return {
        key
        for rec in receivers
        for key, content in rec.fields.items()
        for one in alternatives(content)
        if isinstance(one, Term) and one.op == "moved"
    }


def _placed(value: Value) -> Value:
    """An attribute that some method puts on a device: what the constructor left on the CPU is not what others meet, unless the conditions of the move
    do not hold for it.
    """
    moved = [
        guards
        for guards, one in options_of(value)
        if (isinstance(one, Tensor) and one.device != HOST)
        or (isinstance(one, Term) and one.op == "moved" and one.args[1] != HOST)
    ]
    if not moved or not isinstance(value, OneOf):
        return value
    return one_of(
        [
            (guards, one)
            for guards, one in value.options
            if not (isinstance(one, Tensor) and one.device == HOST)
            or not any(consistent(guards, other) for other in moved)
        ]
    )


def _may_be_tensor(parameter: ir.Parameter) -> bool:
    """False for a parameter that is annotated as something else."""
    return parameter.kind not in ("*", "**") and parameter.annotation is None


def analyse(
    program: ir.Program,
    path: str = "",
    files: Files | None = None,
    kept: Kept | None = None,
    seen: Seen | None = None,
) -> Analysis:
    """The analysis of a file's Program; `files` are the other ones of its project, and `kept` is what is known of them.

    `seen` names the devices on which a run saw what functions are given, by the identity of a body and the name of a parameter.
    """
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, 20_000))
        kept = Kept(files, Unit(program, path)) if kept is None else kept
        found = kept.analysis(path) if not seen else Analysis(program, path, kept=kept, seen=seen).run()
        return found.hear_callers()
    finally:
        sys.setrecursionlimit(limit)


def _brought(fault: Fault) -> Fault:
    """A fault as the file tells of it that brings the two together: of a tensor that another file makes, which does not ask who breaks what it claims, it is
    not certain.
    """
    is_clear = (
        fault.is_brought or fault.told_at.unit is fault.chain[-1].unit or fault.is_of_module or fault.kind == "host"
    )
    return fault._replace(is_brought=True, sometimes=fault.sometimes or not is_clear)


def _is_same(fault: Fault, other: Fault) -> bool:
    """True for two faults of one tensor at one place where it meets another."""
    made = other.host.origin if other.host is not None else None
    return fault.site is other.site and fault.host is not None and fault.host.origin is made
