"""The summary of a body run again under actual arguments: what was left open is done now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from torchdevlint.infer import (
    claims,
    classes,
    conditions,
    devices,
    foreign,
    lookups,
    modules,
    paths,
    protocols,
    reading,
    stored,
    tensors,
)
from torchdevlint.infer.calls import call, spread
from torchdevlint.infer.context import CHANGES, MOST_NESTED, nesting
from torchdevlint.infer.joins import lift, one_of
from torchdevlint.infer.narrowing import NARROWING, narrowed_by, no_tensor
from torchdevlint.infer.presence import PRESENT, marks, with_marks
from torchdevlint.infer.state import (
    EARLIER,
    FIRST,
    NO_FACTS,
    RENEWED,
    Facts,
    Heap,
    as_moved,
    if_moved,
    join_heaps,
    moved_in_turn,
    renewal,
)
from torchdevlint.infer.summary import Claim, Event, Summary
from torchdevlint.infer.values import (
    ACCELERATOR_NAME,
    CHOICE,
    DEFAULT,
    EITHER,
    HOST,
    MANY,
    NO_TENSOR,
    NONE,
    NOTHING,
    NOWHERE,
    NUMBER,
    UNKNOWN,
    UNMOVED,
    Array,
    Bound,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    Like,
    OneOf,
    Partial,
    Place,
    Rec,
    Ref,
    Site,
    Star,
    Super,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    array,
    as_chosen,
    at_least,
    choice_of,
    device_at,
    least,
    options_of,
    place_in,
    places_of,
    terms_in,
    text_of,
    waits,
)
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

MOST_EFFECTS = 40  # attributes of one object that a call may set: each caller sets them again
_Made = TypeVar("_Made")
MOST_COPIES = 100  # objects of a call, of which those that are made by deeper calls are copied


class Replay:
    """A summary under actual parameters: what was left open is done now, by the same transfer functions."""

    def __init__(
        self, ctx: Context, summary: Summary, body: ir.Body, parameters: dict[str, Value], site: Site | None
    ) -> None:
        self.ctx, self.summary, self.body, self.parameters, self.site = ctx, summary, body, parameters, site
        self._memo: dict[Term, Value] = {}
        self._choices: dict[
            tuple[int, Facts], tuple[OneOf, Value]
        ] = {}  # by identity: choices are nested, and are asked for from many places
        self._done_once: list[Term] = []
        self._forgotten = 0  # of the memo
        self._copies: dict[Ref, Ref] = {}
        self._is_on_way = False  # events are still to come
        self._awaited: list[tuple[Ref, Any, Any]] = []  # what objects are given by them
        self._residual: dict[tuple[Facts, Facts], Facts | None] = {}  # by what holds here
        self._narrowings: dict[Facts, dict[Term, Value]] = {}
        self._called_at: set[tuple[object, object]] = set()  # the calls that are done by now: what is called, and where
        self._not_made: set[Term] = set()  # calls of which the conditions do not hold
        self._made_under: dict[Facts, set[Any]] = {}  # objects that there are on one side alone
        self._begun = ctx.facts
        self._doing: Claim | Term | None = None  # the event
        self._changes: set[Term] = set()  # what has been done as an event of its own
        self._is_in_turn = False
        self.is_anew = False  # the body is run, and not its summary
        self.is_asking = False  # of conditions: of a branch that is not taken they claim nothing
        self.is_recursive = len(summary.cycle) > 1 or body in summary.heard.asked

    def run(self) -> Value:
        """Claims and calls in their order, then effects, then what comes back."""
        ctx, summary = self.ctx, self.summary
        saved = ctx.stack, ctx.chain, ctx.calls
        ctx.stack = (*ctx.stack, self.body)
        ctx.calls = (*ctx.calls, self)
        if self.site is not None:
            ctx.chain = (self.site, *ctx.chain)
        try:
            self._is_on_way = True
            self._events(0, len(summary.events))
            self._is_on_way = False
            self._give_awaited()
            self._effects()
            result = self.value(summary.result)
            for one in summary.raised:
                ctx.raise_(self.value(one))
            if ctx.mode == "root" and self.site is None:
                claims.returned(ctx, result, self.body)
            if ctx.mode == "summary":
                for term in summary.proven:
                    for proven in alternatives(self._unasked(term)):
                        ctx.prove(proven)
            for term, _ in summary.trained:
                stored.trains(ctx, self._receiver() if term.args[0] == NONE else self.value(term.args[0]), self.site)
            if ctx.analysis.recorder is not None:
                ctx.analysis.recorder.replayed(self)
        finally:
            ctx.stack, ctx.chain, ctx.calls = saved
        return result

    @property
    def may_be_otherwise(self) -> bool:
        """True while something is done that a condition or the turns of a loop may do never, or several times."""
        return not self.is_anew and (self._is_in_turn or self.ctx.facts != self._begun)

    def run_anew(self, run: Callable[[], _Made]) -> _Made:
        """The body itself under actual parameters, or a part of it."""
        ctx, body = self.ctx, self.body
        saved, self.is_anew = (ctx.stack, ctx.chain, ctx.calls, ctx.unit), True
        ctx.stack, ctx.calls, ctx.unit = (*ctx.stack, body), (*ctx.calls, self), ctx.analysis.unit_of(body)
        if self.site is not None:
            ctx.chain = (self.site, *ctx.chain)
        try:
            if ctx.analysis.recorder is not None:
                ctx.analysis.recorder.replayed(self)
            return run()
        finally:
            ctx.stack, ctx.chain, ctx.calls, ctx.unit = saved

    def _events(self, begin: int, end: int, *, of_turn: bool = False) -> None:
        """Events in their order. Those of a loop that moves modules are done twice: what the next turn meets is where this one has left it. So are those
        of one that calls several functions in an order that is not known.
        """
        ctx, at = self.ctx, begin
        chain = ctx.chain
        while at < end:
            last = self.summary.turns.get(at) if at > begin or not of_turn else None
            if last is not None:
                self._turn(at, last)
                at = last
                continue
            event = self.summary.events[at]
            ctx.chain = (*event.chain, *chain)
            around = ctx.default_device
            if event.default is not None:
                ctx.default_device = self.place(event.default)
            self._event(event)
            ctx.chain, ctx.default_device = chain, around
            if self._awaited:
                self._give_awaited()
            at += 1

    def _turn(self, begin: int, end: int) -> None:
        around, self._is_in_turn = self._is_in_turn, True
        self._turns(begin, end)
        self._is_in_turn = around

    def _turns(self, begin: int, end: int) -> None:
        ctx, done, before = self.ctx, len(self._done_once), dict(self.ctx.heap)
        with ctx.turn() as moving, ctx.choosing() as chosen:
            self._events(begin, end, of_turn=True)
        moved = moved_in_turn(moving, ctx.heap) if moving and not ctx.mute else None
        if chosen and not ctx.is_again and _brings_elsewhere(before, ctx.heap):
            self._again(begin, end, done, before)
        if moved is None:
            return
        left, memo, is_later = ctx.heap, self._memo, ctx.is_later_turn
        ctx.heap, ctx.is_later_turn = moved, True
        self._memo = {term: memo[term] for term in self._done_once[:done] if term in memo}
        self._forget_conditions()
        self._events(begin, end, of_turn=True)
        ctx.heap, self._memo, ctx.is_later_turn = left, memo, is_later
        self._forget_conditions()

    def _again(self, begin: int, end: int, done: int, before: Heap) -> None:
        """The next turn: any of the functions may be called first, and meet what the others leave."""
        ctx, memo = self.ctx, self._memo
        ctx.heap, ctx.is_again = join_heaps([before, ctx.heap], [NO_FACTS, NO_FACTS]), True
        self._memo = {term: memo[term] for term in self._done_once[:done] if term in memo}
        self._forget_conditions()
        self._events(begin, end, of_turn=True)
        self._memo, ctx.is_again = memo, False
        self._forget_conditions()

    def _forget_conditions(self) -> None:
        self._residual.clear()
        self._narrowings.clear()
        self._choices = {}

    def _receiver(self) -> Value:
        """The object whose method is called; None for a function."""
        first = self.body.parameters[0].name if self.body.owner is not None and self.body.parameters else ""
        return self.parameters.get(first, NONE)

    def _event(self, event: Event) -> None:
        ctx = self.ctx
        if ctx.is_full:
            ctx.analysis.hit("events of a summary")
            return
        facts, what = self._facts(event.facts), event.what
        if isinstance(what, Term) and what.op == "call":
            (self._not_made.add if facts is None else self._not_made.discard)(what)
        if facts is None or (isinstance(what, Term) and self._is_of_later_turn(what, event.facts)):
            return
        if isinstance(what, Term) and what.op == "call":
            self._called_at.add((what.args[0], what.args[3]))
        self._doing = what
        if isinstance(what, Term) and what.op in CHANGES:
            if what in self._changes:  # it was undone meanwhile
                self._memo.pop(what, None)
            self._changes.add(what)
        if not facts:
            saved = ctx.facts
            self._done(what)
            ctx.facts = saved
            return
        left = self._left_by(event.facts)
        with ctx.under(facts), self._narrowed(left) if left else _AS_IT_IS:
            is_open = any(fact not in self.summary.passed and fact[0].op != "trained" for fact in event.facts)
            may_change = isinstance(what, Term) and what.op in _MAY_CHANGE and what.args[1] != NOWHERE
            if isinstance(what, Term) and may_change and is_open:
                self._may_change(what, facts)
            else:
                known, ctx.made = ctx.made, set()
                self._done(what)
                if made := set(map(Ref, ctx.made)).difference(self._copies.values()):
                    self._made_under.setdefault(_of_choice(facts), set()).update(made)
                known |= ctx.made
                ctx.made = known

    def _is_of_later_turn(self, what: Term, facts: Facts) -> bool:
        """True for a move of what a call has given in the turn before of a loop, where that call is still to come."""
        if what.op != "moved" or all(term.op != FIRST or outcome for term, outcome in facts):
            return False
        made = {(one.args[0], one.args[3]) for one in terms_in((what,)) if one.op == "call"} - self._called_at
        calls = (event.what for event in self.summary.events) if made else ()
        return any(isinstance(one, Term) and one.op == "call" and (one.args[0], one.args[3]) in made for one in calls)

    @contextmanager
    def _narrowed(self, left: dict[Term, Value]) -> Iterator[None]:
        """What conditions of the summary are about is, for a while, what they leave of it: a number behind `if isinstance(x, float):`."""
        memo = self._memo
        before = {term: memo[term] for term in left if term in memo}
        known, forgotten = len(memo), self._forgotten
        memo.update(left)
        choices, self._choices = self._choices, {}
        try:
            yield
        finally:
            self._choices = choices
            came = len(memo) - known + self._forgotten - forgotten  # meanwhile, or a few more
            for term in list(islice(reversed(memo), came)):
                if term.op not in _DOES:
                    del memo[term]
            memo.update(before)

    def _left_by(self, facts: Facts) -> dict[Term, Value]:
        known = self._narrowings.get(facts)
        if known is None:
            found: dict[Term, Value] = {}
            for asked, outcome in facts:
                term = asked.args[0] if asked.op in NARROWING else None
                if isinstance(term, Term) and term.waits:
                    left = narrowed_by(self.ctx, asked, found.get(term, self.value(term)), self.value, outcome)
                    if left is not None:
                        found[term] = left
            known = self._narrowings[facts] = found
        return known

    def _done(self, what: Claim | Term) -> None:
        if isinstance(what, Claim):
            operands = [operand._replace(value=self.value(operand.value)) for operand in what.operands]
            claims.claim(self.ctx, what.kind, operands, what.site, chain=what.chain)
        else:
            self.value(what)

    def _may_change(self, what: Term, facts: Facts) -> None:
        """A move, or an attribute that is set, under conditions that are still open: on the other ways the object is as it was."""
        told = _of_choice(facts)
        self.value(what.args[0])  # what is changed may be an object that this call makes
        made = self._made_under.get(told, ())
        ctx, before = self.ctx, dict(self.ctx.heap)
        for place in made:
            before.pop(place, None)
        self.value(what)
        ctx.heap = join_heaps([before, ctx.heap], [conditions.opposite(told), told])

    def _facts(self, facts: Facts) -> Facts | None:
        """What is left open of the conditions, None where one does not hold; many events share theirs."""
        if not facts:
            return facts
        key = facts, self.ctx.facts
        if key not in self._residual:
            saved, self.is_asking = self.is_asking, True
            given = [(self.value(term), outcome, term) for term, outcome in facts]
            self.is_asking = saved
            self._residual[key] = conditions.residual(self.ctx, given)
        return self._residual[key]

    def _effects(self) -> None:
        ctx = self.ctx
        for place, rec in self.summary.effects.items():
            if self._is_of_another_branch(place):
                continue
            target = self._unasked(place)
            fields = list(rec.fields.items())
            if len(fields) > MOST_EFFECTS:
                ctx.analysis.hit("effects of a call")
                fields = [item for n, item in enumerate(fields) if n < MOST_EFFECTS or item[0] == "@device"]
            written: list[tuple[Any, Any]] = []  # together: `self.a, self.b = self.b, self.a`
            for key, content in fields:
                if key == "@device":
                    for one, here in written:  # what the object holds by now moves with it
                        ctx.put(target, one, here)
                    written.clear()
                    new = self.place(content)
                    for module in alternatives(target):
                        place = self._where_it_stays(new, module)
                        if place is not None:
                            devices.move_module(ctx, module, place)
                elif key == RENEWED:
                    for held in alternatives(target):
                        self.renew(held, content)
                else:
                    here = self._field(key, content)
                    if key == ".data":
                        modules.replace_data(ctx, None, target, here)
                    if isinstance(key, str) and key.startswith("."):
                        here = modules.still_following(ctx, target, key, self._known_by(key, content, here, target))
                    written.append((key, here))
            for key, here in written:
                if key == ".weight":
                    modules.give_weight(ctx, target, here)
                ctx.put(target, key, here)

    def _is_of_another_branch(self, place: object) -> bool:
        """True for what an event gives that was not done here: to ask for it now would do it, `self.model.cpu()` of a branch that is not taken."""
        if not isinstance(place, Term) or not place.waits:
            return False
        is_undone = place.op in _DOES and place not in self._memo
        return is_undone or any(map(self._is_of_another_branch, place.args))

    def renew(self, held: Value, content: Value) -> None:
        """What a loop over the items of a parameter puts in the place of each: of known items, one by one, as if it held that one alone."""
        ctx, held = self.ctx, classes.wrapped(self.ctx, held)
        rec = ctx.heap.get(held) if isinstance(held, Ref) else None
        if rec is None or not isinstance(held, Ref) or rec.kind not in ("dict", "list") or not rec.items:
            tensors.renew(ctx, held, self.value(content))
            return
        others = {key: one for key, one in rec.fields.items() if key not in rec.items}
        saved = self._memo, self._residual, self._choices
        renewed: dict[Any, Value] = {}
        for key, item in rec.items.items():
            self._memo, self._residual, self._choices = {}, {}, {}
            ctx.heap[held] = Rec(rec.kind, rec.cls, {**others, key if rec.kind == "dict" else ("k", 0): item})
            here = renewal(self.value(content))
            renewed[key] = lift(as_moved, here) if here not in (NOTHING, UNKNOWN) else self._passed_over(item, content)
        self._memo, self._residual, self._choices = saved
        ctx.heap[held] = Rec(rec.kind, rec.cls, {**others, **renewed})

    def _passed_over(self, item: Value, content: Value) -> Value:
        """An item that such a loop does not replace. A container that is none of the tensors it asks for is one that it may go into."""
        is_container = any(rec is not None and rec.kind in ("dict", "list") for _, rec in self.ctx.each(item))
        asked = {term.op for guards, _ in options_of(content) for term, _ in guards}
        return UNKNOWN if is_container and not asked <= {"equal", "contains"} else item

    def _unasked(self, value: Value) -> Value:
        """A value of the summary, here, which may be of a branch that is not taken: nothing is claimed of it."""
        muted, self.ctx.mute = self.ctx.mute, True
        found = self.value(value)
        self.ctx.mute = muted
        return found

    def look_again(self, container: Value) -> None:
        """Another call looks into a container: what was read of it, and whether it holds a key, is asked anew, as something may have been stored."""
        known = [one for one in self._memo if (one.op == "item" and one.args[0] == container) or _asks(one, container)]
        self._forgotten += len(known)
        for term in known:
            del self._memo[term]
        if known:
            self._forget_conditions()

    def _where_it_stays(self, place: Any, module: Value) -> Any:
        """A place where the summary moves a module, on some paths alone: there, or where it is; None where no path moves it here."""
        several = places_of(place)
        if all(one == UNMOVED for _, one in several):
            return None
        if all(one != UNMOVED for _, one in several):
            return place
        now = devices.device_of(self.ctx, module)
        return place_in(one_of([(guards, device_at(now if one == UNMOVED else one)) for guards, one in several]))

    def place(self, place: Any) -> Any:
        """A place of the summary, here."""
        if not isinstance(place, Term):
            return place
        if place.op == EITHER:  # as what holds now decides
            devices_here = place_in(self.value(place.args[0]))
            return NOWHERE if devices_here is None else devices_here
        if place.op == CHOICE:
            chosen = as_chosen(place)
            away = [guards for guards, one in options_of(self.value(place.args[0])) if one == Device(chosen)]
            return choice_of(chosen, frozenset.intersection(*away)) if away else HOST
        found = self.value(place)
        return found.place if isinstance(found, Device) else found

    def value(self, value: Value) -> Value:
        """A value of the summary, here."""
        if type(value) is Term:
            known = self._memo.get(value)
            return self._term(value) if known is None else known
        here = _VALUES.get(type(value))
        return value if here is None else here(self, value)

    def all_of(self, values: Sequence[Value]) -> list[Value]:
        """Several values of the summary, here."""
        return [self.value(one) for one in values]

    def _object(self, value: Ref) -> Value:
        return self._copy(value) if value.place in self.summary.locals else value

    def _tuple(self, value: Tup) -> Value:
        parts = [self.value(item) for item in value.items]
        if any(isinstance(item, Star) for item in parts):
            parts, _ = spread(self.ctx, parts)
        return Tup(tuple(parts))

    def _text(self, value: Text) -> Value:
        return text_of(*(self.value(part) for part in value.parts)) if waits(value) else value

    def _function(self, value: Func) -> Value:
        frame = self.value(value.frame) if value.frame is not None else None
        receiver = self.value(value.receiver) if value.receiver is not None else None
        return Func(value.body, frame, receiver, tuple((n, self.value(d)) for n, d in value.defaults), value.form)

    def _partial(self, value: Partial) -> Value:
        keywords = tuple((name, self.value(one)) for name, one in value.keywords)
        return Partial(self.value(value.function), tuple(map(self.value, value.args)), keywords)

    def _class(self, value: Cls) -> Value:
        return Cls(value.cls, self.value(value.frame) if value.frame is not None else None)

    def _one_of(self, value: OneOf) -> Value:
        known = self._choices.get((id(value), self.ctx.facts))
        if known is not None:
            return known[1]
        found = []
        for guards, option in value.options:
            facts = self._facts(guards) if guards else guards
            if facts is None:
                continue
            left = self._left_by(guards) if guards else None
            if left:
                with self._narrowed(left):
                    found.append((facts, self.value(option)))
            else:
                found.append((facts, self.value(option)))
        chosen = one_of(found) if found else NOTHING
        self._choices[id(value), self.ctx.facts] = value, chosen
        return chosen

    def _tensor(self, value: Tensor) -> Value:
        here = self._placed(value)
        if value.like is None or not isinstance(here, Tensor):
            return here
        several = [tensors.as_tensor(self.ctx, one) for one in alternatives(self._unasked(value.like.of))]
        known = [one for one in several if isinstance(one, Tensor)]
        rank = _with_one_less(here.rank) if not several or any(one.rank in (0, None) for one in known) else here.rank
        if len(known) == len(several) > 0 and value.like.by is not None and (rank is None or rank < 0):
            told = min(least(one.rank) for one in known) + value.like.by
            rank = at_least(max(least(rank), told))
        waiting = [Like(one, value.like.by) for one in several if isinstance(one, Term) and one.waits]
        waiting += [one.like.moved_by(value.like.by) for one in known if one.like is not None]
        return replace(here, rank=rank, like=waiting[0] if waiting else None)

    def _placed(self, value: Tensor) -> Value:
        cases = self._cases_of(value.device)
        if not cases:
            return self._placed_at(value)
        return one_of([(guards, self._placed_at(value, there)) for guards, there in cases])

    def _cases_of(self, place: Place) -> list[tuple[Facts, Place]]:
        """Where a tensor of the summary is, for each of the conditions that decide it; none where one place says it."""
        read = _DEVICES.get(place.op) if isinstance(place, Term) else None
        several = options_of(self.value(place.args[0])) if read is not None and isinstance(place, Term) else ()
        if read is None or len(several) < 2 or not all(guards for guards, _ in several):
            return []
        cases = [(guards, read(self.ctx, one)) for guards, one in several]
        is_of_tensor = any(isinstance(there, Term) and there.op in ("device_of", "own") for _, there in cases)
        return cases if is_of_tensor and len({there for _, there in cases}) > 1 else []

    def _placed_at(self, value: Tensor, there: Place | None = None) -> Value:
        """A tensor of the summary where its device is here; at `there` if that is given."""
        ctx, place = self.ctx, value.device
        if not isinstance(place, Term):
            if value.implicit == "default" and place == HOST:
                default = ctx.default()
                if default is not None:
                    return Tensor(default, value.rank, follows=value.follows, kept=value.kept)
            return value
        if place.op == "device_of" and self.value(place.args[0]) == NOTHING:
            return NOTHING
        here = self.place(place) if there is None else there
        if here == DEFAULT:  # `device=None`
            made = tensors.made(ctx, value.origin, value.rank)
            return Tensor(made.device, made.rank, made.origin, made.implicit, value.follows, value.kept)
        if place.op == "default" and here is not place:
            implicit: Literal["", "default"] = "" if ctx.default() else "default"
            origin = value.origin if here == HOST else None
            return Tensor(here, value.rank, origin, implicit, value.follows, value.kept)
        if place.op == "device_of":  # what it was computed from tells where it was made
            for one in (tensors.as_tensor(ctx, made) for made in alternatives(self.value(place.args[0]))):
                if isinstance(one, Tensor) and one.device == here:
                    rank = _with_one_less(value.rank) if one.rank in (0, None) else value.rank
                    origin = one.origin
                    if value.follows and origin is not None:
                        origin = value.origin or origin.part
                    return Tensor(here, rank, origin, one.implicit, value.follows, value.kept or one.kept)
        if here is place and value.moved is None:
            return value
        return Tensor(here, value.rank, value.origin, value.implicit, value.follows, value.kept)

    def _array(self, value: Array) -> Value:
        if value.of is None:
            return value
        here = self._unasked(value.of)  # what makes it has claimed what it does
        return here if isinstance(here, Array) else array(value.rank, here if isinstance(here, Term) else None)

    def _term(self, term: Term) -> Value:
        """A term of which the value is not known yet."""
        if not term.waits:
            is_proven = self.ctx.mode == "root" and term in self.summary.proven
            return Tensor(Term("own", term), MANY) if is_proven else term
        if term in self._not_made:
            return NOTHING  # what is kept of it is kept where the call is made
        self._memo[term] = UNKNOWN  # a term that holds itself
        found = _OPERATIONS[term.op](self, term) if self.ctx.analysis.may_step() else UNKNOWN
        if term.op in ("item", "element", "binary") and term in self.summary.proven:
            for one in filter(tensors.is_of_part, alternatives(found)):
                self.ctx.prove(one)
        if self.ctx.mode == "root" and term in self.summary.proven:
            found = one_of([(guards, self._proven(term, one)) for guards, one in options_of(found)])
        if term.op in _DOES:
            self._done_once.append(term)
        self._memo[term] = found
        return found

    def _proven(self, term: Term, here: Value) -> Value:
        """What a term of the summary is here, one of several things that it may be: it is used as a tensor there."""
        if not isinstance(here, Term) or here is UNKNOWN:
            return here
        tensor = tensors.as_tensor(self.ctx, here)
        return tensor if isinstance(tensor, Tensor) else Tensor(Term("own", term if here.waits else here), MANY)

    def _copy(self, ref: Ref) -> Value:
        """An object that the summary makes, made for this call."""
        found = self._copies.get(ref)
        if found is not None:
            return found
        is_nested = nesting(ref.place) >= MOST_NESTED
        if is_nested and len(self._copies) >= MOST_COPIES:
            self.ctx.analysis.hit("objects of a call")
            return UNKNOWN
        depth = self.ctx.stack.count(self.body)
        turns = self.ctx.turns  # each makes its own, and so does each level of a recursion
        where: Any = self.site if depth < 2 and not turns else (self.site, depth, turns)
        if self.body.is_cached:
            where = (self.body, tuple(self.parameters.values()))
        place = ref.place if is_nested else self.ctx.named(("at", where, ref.place), self.ctx.calls[:-1])
        found = self._copies[ref] = Ref(place)
        if self.body.is_cached and found in self.ctx.heap:
            return found
        self.ctx.made.add(place)
        self.ctx.note_made(found)
        rec = self.summary.heap.get(ref)
        facts, self.ctx.facts = self.ctx.facts, self._begun  # it was made before what is done now under conditions
        if rec is not None:
            self.ctx.heap[found] = Rec(rec.kind, rec.cls, {})
            cls = self.value(rec.cls) if rec.cls is not None else None
            fields = {}
            for key, content in rec.fields.items():
                if self._is_on_way and self._is_to_come(content):
                    self._awaited.append((found, key, content))
                else:
                    fields[key] = self._field(key, content)
            if PRESENT in fields:
                made = Rec(rec.kind, cls, fields)
                fields = with_marks(fields, marks(made))
            for key, content in rec.fields.items() if isinstance(cls, Cls) else ():
                if key in fields and isinstance(key, str) and key[:1] == ".":
                    fields[key] = self._known_by(key, content, fields[key], found)
            if fields.get("@device") == DEFAULT:
                fields |= {"@device": HOST, "@implicit": True}
            if "@implicit" in fields and self.ctx.default() is not None:
                del fields["@implicit"]
                fields["@device"] = self.ctx.default()  # nobody said where: the default device of this call
            self.ctx.heap[found] = Rec(rec.kind, cls, fields)
        self.ctx.facts = facts
        return found

    def _is_to_come(self, content: Any) -> bool:
        """True for what a call gives that is an event of its own, and was not done yet."""
        is_call = isinstance(content, Term) and content.op == "call" and content not in self._memo
        return is_call and any(event.what == content for event in self.summary.events)

    def _give_awaited(self) -> None:
        """Gives the objects of this call what its events so far have made: `request.output = self.model(request.inputs)` stands behind the first callback."""
        awaited, self._awaited = self._awaited, []
        for one in awaited:
            found, key, content = one
            if self._is_on_way and content not in self._memo:
                self._awaited.append(one)
            else:
                here = self._field(key, content)
                is_attribute = isinstance(key, str) and key[:1] == "."
                self.ctx.put(found, key, self._known_by(key, content, here, found) if is_attribute else here)

    def _known_by(self, key: str, content: Any, here: Value, holder: Value) -> Value:
        """What an attribute holds, by its name, where only the call tells which tensor it is."""
        is_open = isinstance(content, (Term, OneOf)) or (isinstance(content, Tensor) and waits(content))
        if not is_open:
            return here
        of_module = any(modules.is_module(self.ctx, one) for one in alternatives(holder))
        return modules.known_by(self.ctx, here, key[1:], of_module=of_module)

    def _field(self, key: Any, content: Any) -> Any:
        return self.place(content) if type(key) is str and key[:1] == "@" else self.value(content)


_MAY_CHANGE = frozenset({"moved", "carried", "set", "raw_set", "raw_object_set", "dict_set"})
_DOES = frozenset(  # once for each call
    "call moved stored held renewed set raw_set raw_object_set dict_set del raw_del saved loaded enter left carried handed".split()
)

_AS_IT_IS = nullcontext()

# What says where something is, by its operation: the device that a value names, and that of a value.
_DEVICES: dict[str, Callable[[Context, Value], Place]] = {
    "as_device": devices.as_device,
    "device_of": devices.device_of,
}

# How a value of a summary is made into one here, by its type, terms aside; a value of any other type is the same for each call.
_VALUES: dict[type, Callable[[Replay, Any], Value]] = {
    Tensor: Replay._tensor,
    Array: Replay._array,
    Ref: Replay._object,
    Tup: Replay._tuple,
    Text: Replay._text,
    OneOf: Replay._one_of,
    Func: Replay._function,
    Bound: lambda here, value: Bound(here.value(value.object), value.name),
    Partial: Replay._partial,
    Star: lambda here, value: Star(here.value(value.value)),
    DoubleStar: lambda here, value: DoubleStar(here.value(value.value)),
    Device: lambda here, value: Device(here.place(value.place)),
    Cls: Replay._class,
    Super: lambda here, value: Super(value.owner, here.value(value.receiver)),
}


def _brings_elsewhere(before: Heap, after: Heap) -> bool:
    """True where what an object held before a turn of a loop is elsewhere behind it: what the turn has called first would meet it there."""
    return any(
        key in there.fields and there.fields[key] is not content and _places(content) != _places(there.fields[key])
        for place, rec in before.items()
        if (there := after.get(place)) is not None and there is not rec
        for key, content in rec.fields.items()
        if isinstance(key, tuple) or (isinstance(key, str) and key.startswith("."))
    )


def _places(content: Value) -> set[Place]:
    several = alternatives(content) if isinstance(content, (Tensor, OneOf)) else ()
    return {one.device for one in several if isinstance(one, Tensor)}


def _with_one_less(rank: int | None) -> int | None:
    """A rank that was told of something with dimensions, where that has none, or may have none. An exact one does not rest on it."""
    return at_least(least(rank) - 1) if rank is not None and rank < 0 else rank


def _itself(here: Replay, term: Term) -> Value:
    return term


def _parameter(here: Replay, term: Term) -> Value:
    body, name = term.args
    return here.parameters.get(name, term) if body is here.body else term


def _sample(here: Replay, term: Term) -> Value:
    found = here.value(term.args[0])
    return Term("sample", found, term.args[1]) if isinstance(found, Term) else found


def _default(here: Replay, term: Term) -> Value:
    ctx = here.ctx
    place = ctx.default()
    is_open = place is None and ctx.mode == "summary" and ctx.unit.sets_default
    return term if is_open else Device(HOST if place is None else place)


def _stored(here: Replay, term: Term) -> Value:
    target, key, value, site = term.args
    if not waits(key):
        here.look_again(target)
    tensors.store_item(here.ctx, here.value(target), here.value(key), here.value(value), site)
    return NONE


def _held(here: Replay, term: Term) -> Value:
    here.look_again(term.args[0])
    target, key = here.value(term.args[0]), here.value(term.args[1])
    muted, here.ctx.mute = here.ctx.mute, here.ctx.mute or here.ctx.mode != "summary"
    found = lookups.found(here.ctx, target, key, term.args[2][0])
    here.ctx.mute = muted
    return found


def _saved(here: Replay, term: Term) -> Value:
    name, keys, leaves, site, chain, content = term.args[:6]
    file = paths.file_of(here.ctx, here.value(name))
    stored.write(here.ctx, file, here.value(keys), here.value(leaves), site, chain, here.value(content))
    return NONE


def _read(here: Replay, term: Term) -> Value:
    name, where, site = term.args[:3]
    path, to = here.value(name), here.value(where)
    known = stored.found(here.ctx, paths.file_of(here.ctx, path), site)
    waiting = stored.waiting(here.ctx, path, to, site) if known is None else None
    return foreign.read_to(here.ctx, known, to, site) if waiting is None else waiting


def _loaded(here: Replay, term: Term) -> Value:
    name, site, chain, owner, found = term.args[:5]
    stored.read(here.ctx, paths.file_of(here.ctx, here.value(name)), site, chain, here.value(owner), found)
    return NONE


def _set(here: Replay, term: Term) -> Value:
    target, name, value = map(here.value, term.args)
    if name == Const("data"):
        modules.replace_data(here.ctx, None, target, value)
    modules.store_named(here.ctx, target, name, value, by=term.op)
    return NONE


def _renewed(here: Replay, term: Term) -> Value:
    for held in alternatives(here.value(term.args[0])):
        here.renew(held, term.args[1])
    return NONE


def _item(here: Replay, term: Term) -> Value:
    held, key = here.all_of(term.args[:2])
    return reading.item(here.ctx, held, key, None if here.is_asking else here.site)


def _called(here: Replay, term: Term) -> Value:
    function, arguments, named, site = term.args
    keywords = {name: here.value(one) for name, one in named}
    called, given = here.value(function), [here.value(one) for one in arguments]
    return call(here.ctx, called, given, keywords, site, of_each=_is_of_each(function))


def _is_of_each(function: Value) -> bool:
    """True for a method of what a loop goes over: `for hook in self.hooks: hook.after(self)` calls each of them."""
    while isinstance(function, Term) and function.op in ("attribute", "asked", "got"):
        function = function.args[0]
    return isinstance(function, Term) and function.op == "element"


def _binary(here: Replay, term: Term) -> Value:
    operator, *operands = term.args
    left, right = map(here.value, operands)
    if operator in tensors.COMPARISONS.values() and here.is_recursive and isinstance(left, Const):
        left = NUMBER  # another call of the function asks it of another number
    sides = [one for side in (left, right) for one in alternatives(side)]
    is_of_tensors = any(isinstance(one, Tensor) for one in sides)
    is_of_names = any(map(_names_something, (left, right))) or all(isinstance(one, Const) for one in sides)
    if operator in ("eq", "ne") and is_of_names and not is_of_tensors:
        found = conditions.equal(*((right, left) if isinstance(right, Term) else (left, right)))
        if found != NUMBER:
            return found if operator == "eq" else conditions.negated(found)
    in_place = operator.endswith("=")
    return tensors.binary(here.ctx, operator.removesuffix("="), left, right, None, in_place=in_place)


def _names_something(value: Value) -> bool:
    """True for what no tensor is compared with: a device, its type, a string."""
    is_name = isinstance(value, Const) and isinstance(value.value, (str, type(None)))
    return is_name or isinstance(value, Device) or value == ACCELERATOR_NAME


def _length(here: Replay, term: Term) -> Value:
    counted = here.value(term.args[0])
    known = reading.items(here.ctx, counted) if isinstance(counted, Tup) else None
    if known is not None:
        return Const(len(known))
    return Term("length", counted) if isinstance(counted, Term) and counted is not UNKNOWN else NUMBER


def _carried(here: Replay, term: Term) -> Value:
    devices.carry(here.ctx, here.value(term.args[0]), here.place(term.args[1]))
    return NONE


def _left(here: Replay, term: Term) -> Value:
    foreign.left(here.ctx, here.value(term.args[0]), term.args[1])
    return NONE


def _handed(here: Replay, term: Term) -> Value:
    foreign.hand_over(here.ctx, [here.value(one) for one in term.args[1:]])
    return NONE


def _earlier(here: Replay, term: Term) -> Value:
    """What a condition was in the turn before: what is certain here was so then."""
    now = here.value(term.args[0])
    return now if conditions.truth(now) is not None else Term(EARLIER, now) if isinstance(now, Term) else UNKNOWN


# What a term waits to do, by its operation.
def _moved(here: Replay, term: Term) -> Value:
    """`value.to(target)`; a caller may give a data type, which moves nothing."""
    value, place, site = term.args
    target = here.value(place.args[0]) if isinstance(place, Term) and place.op == "as_device" else UNKNOWN
    if all(map(devices.is_dtype, alternatives(target))):
        return here.value(value)
    moved, new = here.value(value), here.place(place)
    if site is None and term != here._doing and claims.may_be_module(here.ctx, moved):
        return moved  # a name for what an event has moved
    name, found = _method_at(site), []
    for guards, one in options_of(moved):
        with here.ctx.under(guards):
            own = classes.special(here.ctx, one, name, [_as_value(new)] if name == "to" else [], site) if name else None
            found.append((guards, devices.move(here.ctx, one, new, site) if own is None else own))
    return one_of(found)


def _method_at(site: Site | None) -> str:
    """The method that a move calls, which a class of the project may have of its own; an empty string for that of `super()`."""
    if site is None or site.body is None or not isinstance(site.op, ir.Call):
        return ""
    lookup = Lookup.of(site.body)
    method = lookup.definition(site.op.function)
    if not isinstance(method, ir.Attribute):
        return ""
    receiver = lookup.definition(method.object)
    return "" if isinstance(receiver, ir.Call) and lookup.called(receiver) == "super" else method.name


_OPERATIONS: dict[str, Callable[[Replay, Term], Value]] = {
    "parameter": _parameter,
    "unknown": _itself,
    "own": _itself,
    "top": _itself,
    "turn": _itself,
    "sample": _sample,
    "near": lambda here, term: Term("near", here.place(term.args[0])),
    "default": _default,
    "stored": _stored,
    "saved": _saved,
    "loaded": _loaded,
    "trained": lambda here, term: Term("trained", here.value(term.args[0])),
    "got": lambda here, term: call(here.ctx, Ext("builtins.getattr"), here.all_of(term.args), {}, here.site),
    "type": lambda here, term: call(here.ctx, Ext("builtins.type"), here.all_of(term.args[:1]), {}, here.site),
    "set": _set,
    "raw_set": _set,
    "raw_object_set": _set,
    "dict_set": _set,
    "del": _set,
    "raw_del": _set,
    "super": lambda here, term: classes.attribute_of_super(
        here.ctx, Super(term.args[0].cls, here.value(term.args[1])), term.args[2]
    ),
    "asked": lambda here, term: protocols.asked(
        here.ctx, here.value(term.args[0]), here.value(term.args[1]), term.args[2]
    ),
    "attribute": lambda here, term: reading.attribute(here.ctx, here.value(term.args[0]), term.args[1], here.site),
    "item": _item,
    "held": _held,
    "renewed": _renewed,
    "read": _read,
    "element": lambda here, term: reading.element(here.ctx, here.value(term.args[0])),
    "unpack": lambda here, term: reading.unpacked(here.ctx, here.value(term.args[0]), *term.args[1:4]),
    "call": _called,
    "binary": _binary,
    "device_of": lambda here, term: _as_value(devices.device_of(here.ctx, here.value(term.args[0]))),
    "of_context": lambda here, term: devices.of_context(here.ctx, here.value(term.args[0])),
    "as_device": lambda here, term: _as_value(devices.as_device(here.ctx, here.value(term.args[0]))),
    "moved": _moved,
    CHOICE: lambda here, term: _as_value(here.place(term)),
    EITHER: lambda here, term: _as_value(here.place(term)),
    "carried": _carried,
    "length": _length,
    NO_TENSOR: lambda here, term: no_tensor(here.value(term.args[0])),
    "handed": _handed,
    "if_moved": lambda here, term: if_moved(here.value(term.args[0])),
    "enter": lambda here, term: foreign.entered(here.ctx, here.value(term.args[0]), term.args[1]),
    "left": _left,
    "is_none": lambda here, term: conditions.is_none(here.value(term.args[0])),
    "isinstance": lambda here, term: conditions.is_instance(here.ctx, *here.all_of(term.args)),
    "equal": lambda here, term: conditions.equal(*here.all_of(term.args[:2])),
    EARLIER: _earlier,
    "test": lambda here, term: here.value(term.args[0]),
    "all": lambda here, term: conditions.all_of(here.all_of(term.args)),
    "sized": lambda here, term: conditions.is_sized(here.ctx, here.value(term.args[0]), *term.args[1:]),
    "contains": lambda here, term: conditions.contains(here.ctx, *here.all_of(term.args)),
    "not": lambda here, term: conditions.negated(here.value(term.args[0])),
    "is_cuda": lambda here, term: conditions.on_accelerator(here.value(term.args[0])),
    "device_type": lambda here, term: conditions.device_type(here.place(term.args[0])),
    "has": lambda here, term: foreign.has_attribute(here.ctx, *here.all_of(term.args)),
}


def _asks(term: Term, container: Value) -> bool:
    """True for `key in container`."""
    return term.op == "contains" and bool(term.args[1] == container)


def _of_choice(facts: Facts) -> Facts:
    """The conditions that choose between ways; that something was trained is none."""
    return frozenset(fact for fact in facts if fact[0].op != "trained")


def _as_value(place: Any) -> Value:
    return place if isinstance(place, Term) else Device(place)
