"""One evaluation: of a body for its summary, of a module as the program that it is, or of a root as somebody from outside may use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from torchdevlint.infer import registries
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.imports import Global
from torchdevlint.infer.joins import join, one_of
from torchdevlint.infer.options import is_option
from torchdevlint.infer.presence import PRESENT, without_mark
from torchdevlint.infer.state import CELL, NO_FACTS, Facts, Heap, Moving, of_each_class, old_field
from torchdevlint.infer.summary import Claim, Event
from torchdevlint.infer.values import (
    NONE,
    NOTHING,
    NUMBER,
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

if TYPE_CHECKING:
    from torchdevlint.infer.analysis import Analysis
    from torchdevlint.infer.choice import Choice
    from torchdevlint.infer.replay import Replay
    from torchdevlint.infer.units import Unit
    from torchdevlint.program import ir
    from torchdevlint.stubs.loader import Stubs

MOST_EVENTS = 400
MOST_NESTED = 5  # calls by which the name of an object that a callee makes is told apart
_MOST_THREADS = 4  # that are followed
_MOST_RAISED = 8
_REPLACES_ITEMS = frozenset(
    "clear pop popitem popleft remove append appendleft extend insert update sort reverse setdefault move_to_end".split()
)


def _is_worth_carrying(value: Value) -> bool:
    if isinstance(value, Tup):
        return any(map(_is_worth_carrying, value.items))
    return waits(value) or any(isinstance(one, Tensor) for one in alternatives(value))


Mode = Literal["summary", "module", "root"]


def nesting(place: Any) -> int:
    """The calls by which the name of an object is told apart."""
    count = 0
    while isinstance(place, tuple) and len(place) == 3 and place[0] == "at":
        place = place[2]
        count += 1
    return count


class Context:
    """The heap, the facts and the events of one evaluation."""

    def __init__(self, analysis: Analysis, unit: Unit, mode: Mode, body: ir.Body | None = None) -> None:
        self.analysis, self.unit, self.mode, self.body = analysis, unit, mode, body
        self.heap: Heap = {}
        self.facts: Facts = NO_FACTS
        self.events: list[Event] = []
        # Where the events of a loop begin, and where they end; of loops that begin together, the outer one.
        self.turns_of_events: dict[int, int] = {}
        self.done: set[Term] = set()  # the calls that are left to a caller, so far
        self._calls_left: list[Term] = []  # ... in order
        self.holders: dict[Site, Value] = {}  # by where a parameter was made, a module that holds it: one of several
        # ... and where the outermost module that holds it was made, once a fault has asked.
        self.outermost: dict[Site, Site | None] = {}
        self._emitted: set[tuple[Facts, Claim | Term]] = set()
        self.proven: set[Term] = set()
        self._proven_under: dict[Term, Facts] = {}
        self.is_first = False  # the first call of a method
        self.weak: set[Term] = set()  # used as tensors and arrays both are
        self.reads: dict[Term, None] = {}
        self._changed: dict[object, tuple[Facts, Claim | Term]] = {}  # how each object was changed last
        self.chain: tuple[Site, ...] = ()
        self.stack: tuple[ir.Body, ...] = ()
        self.calls: tuple[Replay, ...] = ()  # of the stack
        self.entered: list[tuple[ir.Body, tuple[Value, ...]]] = []  # the calls that are run, with what they were given
        self.running: list[Ref] = []  # the modules that are called
        self.made: set[Any] = set()
        self.raised: dict[Value, Heap] = {}  # exceptions, with the heap that they are raised in
        self.bound: dict[tuple[ir.Body, Value], list[ir.Store]] = {}  # what gives a tensor, or what may be one, a name
        self.mute = False
        self.most_events = MOST_EVENTS
        self.in_loop = False
        self.moving: Moving | None = None  # in a turn of a loop
        self.chosen: list[Site | None] = []
        self.handed_on: set[Value] = set()  # objects that were given to a function which only a caller knows
        self.given_items: dict[Value, Rec] = {}  # ... of these, the containers, as they were
        self.opened = 0  # how many such functions were called
        self.shown: dict[
            tuple[Value, str], Value
        ] = {}  # what was set before something open was called, which may set it again
        self.started: list[Value] = []  # what threads run, which goes on while the others do
        self.is_again = False  # a loop runs once more, as the order of what it calls is not known
        self.is_later_turn = False  # of a loop that moves modules: what happens here does not happen in the first one
        # The turns of the loops over known items, and which of several things a call is of: each makes objects of its own.
        self.turns: tuple[tuple[ir.Iterate | Site | None, int], ...] = ()
        self.trained: Facts = NO_FACTS  # that something here goes backward
        self.choice: Choice | None = (
            None  # in one of several functions or modules of other files: the program chooses which of them is called how
        )
        self.is_any_machine = False  # what asks for an accelerator comes out both ways
        self.default_device: Place | None = None
        self.class_frame: Value | None = None
        self.class_made: Cls | None = None  # by a metaclass

    # ------------------------------------------------------------------------------------------------ heap

    def new(
        self,
        site: Site | None,
        kind: str,
        cls: Value | None = None,
        fields: dict[Any, Any] | None = None,
        tag: Any = None,
    ) -> Ref:
        """A new object, known by where it is made."""
        tag = (tag, self.turns) if self.turns else tag
        place = site, tag, self.body if self.body is not None and self.body.kind == "function" else None
        ref = Ref(self.named(place, self.calls))
        self.note_made(ref)
        self.heap[ref] = Rec(kind, cls, fields)
        self.made.add(ref.place)
        return ref

    def named(self, place: Any, calls: Sequence[Replay]) -> Any:
        """The name of an object that is made here, in calls that are run again: that of each is told apart."""
        for outer in reversed(calls):
            if outer.site is None or nesting(place) >= MOST_NESTED:
                break
            place = "at", outer.site, place
        return place

    @property
    def is_replaying(self) -> bool:
        """True in the summary of another body, for what is left open to callers: conditions of it may not hold for them, or a loop has more turns."""
        if self.mode != "summary" or not self.stack or (self.calls and self.calls[-1].is_anew):
            return False
        return not self.calls or any(call.may_be_otherwise for call in self.calls)

    def frame(self, body: ir.Body, env: dict[str, Value], outer: Value) -> Ref | None:
        """The variables of a function for what is defined in it; None where nothing needs them."""
        if not body.functions and not self.unit.captured(body):
            return None
        held = {f".{name}": value for name, value in env.items()}
        return self.new(None, "frame", None, {".@parent": outer, **held}, tag=body)

    def rec(self, value: Value) -> Rec | None:
        """What a heap object holds; None for any other value, and for objects of which nothing is known."""
        return self.heap.get(value) if isinstance(value, (Ref, Term, Cls)) else None

    def each(self, value: Value) -> Iterator[tuple[Value, Rec | None]]:
        """What a value may be, one by one, and what it holds, as `rec` tells."""
        return ((one, self.rec(one)) for one in alternatives(value))

    def possible(self, value: Value) -> Value:
        """What the conditions that hold here leave of a value, and of the parts of a tuple."""
        if isinstance(value, Tup) and any(isinstance(one, OneOf) for one in value.items):
            return Tup(tuple(map(self.possible, value.items)))
        if not isinstance(value, OneOf) or not self.facts:
            return value
        left = [(guards, one) for guards, one in value.options if consistent(guards, self.facts)]
        return one_of(left) if 0 < len(left) < len(value.options) else value

    def put(self, value: Value, key: Any, content: Any) -> None:
        """Writes a field of each object that a value may be."""
        several = isinstance(value, OneOf)
        for one in alternatives(value):
            if isinstance(one, (Ref, Term, Cls)) and one is not UNKNOWN:
                rec = self.heap.get(one) or Rec("overlay")
                if rec.kind == "overlay" and self.mode == "summary" and key not in rec.fields:
                    self._take_before(one, key)
                is_mark = isinstance(key, str) and key[:1] == "@"
                kept = join(rec.fields[key], content) if several and key in rec.fields and not is_mark else content
                if CELL in rec.fields and (key == "*" or isinstance(key, tuple)):
                    rec = rec.without(CELL)
                if PRESENT in rec.fields and (key == "*" or isinstance(key, tuple)):
                    rec = without_mark(rec, key)
                if key == "@device":
                    rec = rec.without(key)  # last: what was written before goes along
                is_gone = (
                    content == NOTHING and rec.kind in ("object", "module") and isinstance(key, str) and key[:1] == "."
                )
                self.heap[one] = rec.without(key) if is_gone else rec.put(key, kept)
                if self.mode == "module" and isinstance(one, Cls) and not self.stack:
                    self.unit.class_fields[one.cls] = self.heap[one].fields  # as its methods find it

    def add(self, value: Value, key: Any, content: Value) -> None:
        """One more thing that a field of an object may hold."""
        rec = self.rec(value)
        if rec is not None and key in rec.fields:
            both = [(NO_FACTS, rec.fields[key]), (NO_FACTS, content)]
            content = one_of(of_each_class(both, [self.heap]) if key == "*" else both)
        self.put(value, key, content)

    def read(self, term: Term) -> Term:
        """A part of an object from outside, as it is when the body is entered."""
        if self.mode == "summary" and term is not UNKNOWN:
            self.reads[term] = None
        return term

    def _take_before(self, place: Value, key: Any) -> None:
        """What was read of a field is taken from the caller in front of the new value: `old = self.last; self.last = x; return old`."""
        is_part = isinstance(key, tuple) or (isinstance(key, str) and key.startswith("."))
        old = old_field(place, key) if is_part else None
        if isinstance(old, Term) and old in self.reads:
            self.emit(old)

    def _take_items_before(self, function: Value) -> None:
        """What was read of the items is taken in front of a call that changes them: `all = torch.cat(self.rows); self.rows.clear()`."""
        if isinstance(function, Term) and function.op == "attribute" and function.args[1] in _REPLACES_ITEMS:
            of_items = [one for one in self.reads if one.op in ("item", "element") and one.args[0] == function.args[0]]
            for one in of_items:
                self.emit(one)

    def _take_places_before(self, moved: Term) -> None:
        """What was asked of the device is taken in front of a move: `home = net.weight.device; net.cuda(); ...; net.to(home)`."""
        for one in [one for one in self.reads if one.args[1:] == ("device",) and _is_within(one, moved)]:
            self.emit(one)

    # ------------------------------------------------------------------------------------------------ other files

    def imported(self, unit: Unit, name: str) -> Value:
        """What a file imports under a dotted name. An object that lives in the heap of another file is read when that is run."""
        found = self.analysis.foreign(unit, name)
        if not isinstance(found, Ext) or self.stubs.is_given(name):
            return found
        other = self.analysis.kept.imports.resolve(unit, name)
        if not isinstance(other, Global):
            return found
        option = self._option(other)
        if option is not None:
            return option
        if not self._is_object(other):
            return found
        if self.mode == "summary":
            return Term("attribute", other.unit.globals, other.name)
        rec = self.heap.get(other.unit.globals)
        if rec is not None and "." + other.name in rec.fields:
            return rec.at("." + other.name)
        lent = self.lent(other.unit.globals, other.name)
        return found if lent is None else lent

    def _option(self, name: Global) -> Value | None:
        """The options of the program, or one of them, where another file keeps them under this name."""
        module = self.analysis.module_of(name.unit)
        value = module.held(name) if module is not None else None
        return value if isinstance(value, Term) and is_option(Term("attribute", value, "")) else None

    def _is_object(self, name: Global) -> bool:
        module = self.analysis.module_of(name.unit)
        value = module.held(name) if module is not None else None
        return value is not None and any(isinstance(one, Ref) for one in alternatives(value))

    def lent(self, value: Ref, name: str) -> Value | None:
        """What a global of another file holds after the run of its module; None for any other object."""
        unit = self.analysis.unit_of_globals(value)
        module = self.analysis.module_of(unit) if unit is not None and unit is not self.unit else None
        found = module.lent(Global(unit, name), self.heap) if unit is not None and module is not None else None
        if found is not None and unit is not None:
            registries.take(self, unit, found)
        return found

    # ------------------------------------------------------------------------------------------------ what is known

    @property
    def stubs(self) -> Stubs:
        """What is known of foreign code."""
        return self.analysis.kept.stubs

    def default(self) -> Place | None:
        """The default device, where the program set one."""
        if self.default_device is not None:
            return self.default_device
        rec = self.heap.get(self.analysis.settings)
        return rec.fields.get("@default") if rec is not None else None

    def prove(self, term: Value) -> None:
        """Its use says that it is a tensor; so is what was only scaled."""
        while isinstance(term, Term) and term is not UNKNOWN and term.op != "moved":
            self.proven.add(term)
            self._proven_under[term] = self._proven_under.get(term, self.facts) & self.facts
            if term.op != "binary":
                return
            operands = [one for one in term.args[1:] if not isinstance(one, Const) and one != NUMBER]
            if len(operands) != 1 or any(isinstance(one, Tensor) for one in alternatives(operands[0])):
                return
            term = operands[0]

    def is_proven_here(self, term: Term) -> bool:
        """Whether a use on every way to here has proven it; another branch may be for what is no tensor."""
        return term in self.proven and self._proven_under.get(term, NO_FACTS) <= self.facts

    def raise_(self, value: Value) -> None:
        """Remembers an exception that is raised here and carries more than a message."""
        rec = self.rec(value)
        if rec is not None and len(self.raised) < _MOST_RAISED and any(map(_is_worth_carrying, rec.fields.values())):
            self.raised.setdefault(value, self.heap)

    def emit(self, what: Claim | Term) -> None:
        """Leaves something to the callers, where one of them may decide it."""
        if self.mode != "summary" or self.mute:
            return
        is_open = self._is_open_claim(what) if isinstance(what, Claim) else what.waits
        if not is_open and not (self.unit.sets_default and isinstance(what, Claim)):
            return
        if isinstance(what, Term) and what.op == "call":
            self._take_items_before(what.args[0])
        elif isinstance(what, Term) and what.op == "moved" and isinstance(what.args[0], Term):
            self._take_places_before(what.args[0])
        event = self.facts, what
        if event in self._emitted and not self._is_done_again(event):
            return  # a caller would decide it once
        if not self.is_full:
            is_call = isinstance(what, Term) and what.op == "call"
            chain = () if isinstance(what, Claim) else self.chain  # a claim knows its own
            self.events.append(Event(*event, chain, self.default_device if is_call else None))
            self._emitted.add(event)
            if is_call and isinstance(what, Term):
                self.done.add(what)
                self._calls_left.append(what)
            if isinstance(what, Term) and what.op in CHANGES:
                self._changed[_target_of(what)] = event
        else:
            self.analysis.hit("events of a summary")

    def _is_open_claim(self, claim: Claim) -> bool:
        """True where a caller knows more of an operand, or of a condition that the claim is under."""
        guards = [self.facts, *(guards for operand in claim.operands for guards, _ in options_of(operand.value))]
        return any(waits(operand.value) for operand in claim.operands) or any(
            term.waits for facts in guards for term, _ in facts
        )

    def _is_done_again(self, event: tuple[Facts, Claim | Term]) -> bool:
        """True for what has been undone since: `up(net); down(net); up(net)`."""
        what = event[1]
        return isinstance(what, Term) and what.op in CHANGES and self._changed.get(_target_of(what)) != event

    @contextmanager
    def turn(self) -> Iterator[Moving]:
        """A turn of a loop: notes what it moves, and which events are its own, as callers may have to run them twice."""
        begin, around, moving = len(self.events), self.moving, Moving()
        given = (
            {place: rec for place, rec in self.heap.items() if rec.kind == "overlay"} if self.mode == "summary" else {}
        )
        self.moving = moving
        try:
            yield moving
        finally:
            self.moving = around
        begin = self._shown_before(begin, given)
        if around is not None:
            for place, rec in moving.items():
                around.setdefault(place, rec)
        if len(self.events) > begin:
            self.turns_of_events[begin] = len(self.events)

    def _shown_before(self, begin: int, given: Heap) -> int:
        """Where the events of a turn begin, once those are in front of it that show a callee what was written before the loop."""

        def is_given(event: Event) -> bool:
            what = event.what
            if not isinstance(what, Term) or what.op != "set" or not isinstance(what.args[1], Const):
                return False
            rec = given.get(what.args[0])
            return rec is not None and rec.fields.get(f".{what.args[1].value}") == what.args[2]

        of_turn = self.events[begin:]
        before = [event for event in of_turn if is_given(event)]
        if before and begin not in self.turns_of_events:
            self.events[begin:] = before + [event for event in of_turn if not is_given(event)]
            begin += len(before)
        return begin

    def go_on(self) -> None:
        """Somebody waits for what threads do: they see what was put in their queues since they were started."""
        started, self.started = self.started, []
        for one in started[-_MOST_THREADS:]:
            self.call(one, [], {}, None)
        self.started = started

    @contextmanager
    def choosing(self) -> Iterator[list[Site | None]]:
        """Notes where one of several functions is called, nobody knows which."""
        around, self.chosen = self.chosen, []
        try:
            yield self.chosen
        finally:
            around += self.chosen
            self.chosen = around

    def note_made(self, ref: Ref) -> None:
        """An object is about to be made, that this turn of a loop has made if there is none of its name."""
        if self.moving is not None and ref not in self.heap:
            self.moving.setdefault(ref, None)

    def note_move(self, ref: Value) -> None:
        """An object is about to be elsewhere."""
        if self.moving is not None:
            self.moving.setdefault(ref, self.heap.get(ref))

    def open_call_with(self, value: Value) -> Term | None:
        """The last call that waits for a caller and is given an object, as a constructor with `**options` is: what it puts there is not there yet."""
        for call in reversed(self._calls_left):
            function = call.args[0]
            if value in call.args[1] or (isinstance(function, Func) and function.receiver == value):
                return call
        return None

    @property
    def is_full(self) -> bool:
        """True where a summary has as many events as it may."""
        return len(self.events) >= self.most_events

    def lift(self, function: Callable[[Value], Value], value: Value) -> Value:
        """A function of each alternative, under the conditions of that one; None is none of them, as nothing can be asked of it."""
        if not isinstance(value, OneOf):
            return function(value)
        found: list[tuple[Facts, Value]] = []
        for guards, option in value.options:
            if option != NONE:
                with self.under(guards):
                    found.append((guards, function(option)))
        return one_of(found)

    def call(self, function: Value, args: Sequence[Value], keywords: dict[str, Value], site: Site | None) -> Value:
        """`function(*args, **keywords)`."""
        from torchdevlint.infer.calls import call

        return call(self, function, args, keywords, site)

    def under(self, facts: Facts) -> _Under:
        """More facts hold for a while. Where they cannot, nothing is claimed."""
        return _Under(self, facts)


CHANGES = frozenset({"moved", "set", "raw_set", "raw_object_set", "dict_set"})
"""The operations of terms that leave an object other than it was."""


def _target_of(change: Term) -> object:
    """What a change is one of: an object that is moved, or one of its attributes that is set."""
    return change.args[0] if change.op == "moved" else change.args[:2]


def _is_within(part: Term, whole: Term) -> bool:
    """True for a part of something that is open."""
    at: object = part
    while isinstance(at, Term) and at != whole:
        at = at.args[0] if at.args else None
    return at == whole


class _Under:
    """See `Context.under`. No generator, which would cost more than what is done under the facts."""

    __slots__ = ("_ctx", "_facts", "_muted", "_saved")

    def __init__(self, ctx: Context, facts: Facts) -> None:
        self._ctx, self._facts = ctx, facts

    def __enter__(self) -> None:
        ctx = self._ctx
        saved, muted = self._saved, self._muted = ctx.facts, ctx.mute
        ctx.facts = saved | self._facts
        ctx.mute = muted or not consistent(self._facts, saved)

    def __exit__(self, *_: object) -> None:
        self._ctx.facts, self._ctx.mute = self._saved, self._muted
