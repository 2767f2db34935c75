"""Calls: what is called, with what, and the summary of a body run again under actual arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from torchdevlint.infer import (
    claims,
    classes,
    conditions,
    containers,
    devices,
    foreign,
    modules,
    opaque,
    paths,
    reading,
    samples,
    stored,
    tensors,
)
from torchdevlint.infer.state import NO_FACTS, Facts, join_heaps
from torchdevlint.infer.summary import Claim, Event, Operand, Summary
from torchdevlint.infer.values import (
    DEFAULT,
    HOST,
    MANY,
    NONE,
    NOTHING,
    UNKNOWN,
    Bound,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    OneOf,
    Partial,
    Rec,
    Ref,
    Site,
    Sort,
    Star,
    Super,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    is_elsewhere,
    is_open,
    join,
    one_of,
    options_of,
    parts_of,
    text_of,
    waits,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

MOST_SAME = 3  # times that one body may be on the stack
MOST_OPEN = 1  # ... of functions that call each other, with values that are open
MOST_EQUAL = 2  # ... with the same values: the second iteration towards the fixed point
MOST_DEEP = 14
MOST_NESTED = 5  # calls by which the name of an object that a callee makes is told apart
_MOST_CALLEES = 4
MOST_COPIES = 100  # objects of a call, of which those that are made by deeper calls are copied
MOST_EFFECTS = 40  # attributes of one object that a call may set: each caller sets them again

Arguments = Sequence[Value]
Keywords = dict[str, Value]


def call(ctx: Context, function: Value, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    """`function(*args, **keywords)`."""
    if isinstance(function, OneOf):
        found = []
        saved, is_choice = ctx.is_choice, len(function.options) > 1
        for guards, one in function.options[:_MOST_CALLEES]:
            if one != NONE:
                ctx.is_choice = saved or (is_choice and _is_elsewhere(ctx, one))
                with ctx.under(guards):
                    found.append((guards, call(ctx, one, args, keywords, site)))
        ctx.is_choice = saved
        return one_of(found)
    args, keywords, is_spread = _spread(ctx, args, keywords)
    if isinstance(function, (Ext, Bound, Term)):
        stored.called(ctx, function, [*args, *keywords.values()], site)
    if isinstance(function, Func):
        if not is_spread and any(map(_is_open_star, args)):
            return residual(ctx, function, args, keywords, site)
        return _enter(ctx, function, args, keywords, site)
    if isinstance(function, Cls):
        return construct(ctx, function, args, keywords, site)
    if isinstance(function, Ext):
        if any(isinstance(one, DoubleStar) for one in args) and function.name.startswith("torch."):
            # Keywords that nobody knows may say where: `torch.zeros(3, **options)`.
            return residual(ctx, function, args, keywords, site) if ctx.mode == "summary" else unknown(site)
        if ctx.mode == "summary" and any(map(_is_open_star, args)) and ctx.stubs.places_module(function.name):
            return residual(ctx, function, args, keywords, site)  # which of them is the model, a caller tells
        made = foreign.call(ctx, function.name, list(args), keywords, site)
        devices.hold(ctx, made, (*args, *keywords.values()))
        return made
    if isinstance(function, Bound):
        if ctx.mode == "summary" and isinstance(function.object, Bound) and any(map(is_open, args)):
            return residual(ctx, function, args, keywords, site)
        return foreign.call_method(ctx, function.object, function.name, list(args), keywords, site)
    if isinstance(function, Partial):
        return call(ctx, function.function, [*function.args, *args], {**dict(function.keywords), **keywords}, site)
    if isinstance(function, Ref):
        return _call_object(ctx, function, args, keywords, site)
    if isinstance(function, Term):
        if keywords.get("return_tensors") == Const("pt"):
            return opaque.encoded(ctx, function, site)
        if function is UNKNOWN:
            return unknown(site)
        if function.op == "attribute":
            return tensors.open_method(ctx, function, list(args), keywords, site)
        return residual(ctx, function, args, keywords, site)
    return UNKNOWN


def _is_open_star(argument: Value) -> bool:
    return isinstance(argument, (Star, DoubleStar)) and is_open(argument.value)


def _is_elsewhere(ctx: Context, function: Value) -> bool:
    """True for a function, a class or an object of a class of another file."""
    rec = ctx.rec(function) if isinstance(function, Ref) else None
    held = rec.cls if rec is not None else function
    body = held.body if isinstance(held, Func) else held.cls.body if isinstance(held, Cls) else None
    return body is not None and ctx.analysis.unit_of(body) is not ctx.unit


def unknown(site: Site | None) -> Value:
    """A value of its own of which nothing is known."""
    return Term("unknown", site) if site is not None else UNKNOWN


def _call_object(ctx: Context, ref: Ref, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    rec = ctx.rec(ref)
    if rec is None or rec.kind == "overlay":
        return residual(ctx, ref, args, keywords, site)
    if rec.kind == "module":
        if site is not None and isinstance(rec.cls, Cls):
            ctx.analysis.heard.met.add((site, None))  # who knows the class sees what becomes of its inputs
        args, keywords = modules.hooked(ctx, ref, list(args), keywords, site)
        result = _result_of(ctx, ref, rec, args, keywords, site)
        return modules.given_back(ctx, ref, list(args), keywords, result, site)
    return _result_of(ctx, ref, rec, args, keywords, site)


def _result_of(ctx: Context, ref: Ref, rec: Rec, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    if isinstance(rec.cls, Cls):
        names = ("__call__", "forward") if rec.kind == "module" else ("__call__",)
        for name in names:
            method = classes.attribute_of(ctx, rec.cls, name, ref)
            if method is not None:
                return call(ctx, method, args, keywords, site)
    if rec.kind == "module":
        return modules.call(ctx, ref, rec, list(args), keywords, site)
    return unknown(site)


def residual(ctx: Context, function: Value, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    """A call of something that only a caller can tell."""
    place = opaque.placed(ctx, function)
    if place is not None and site is not None:
        args = [samples.sample(ctx, one, site) for one in args]
    if place is not None and ctx.mode == "summary" and any(map(waits, (function, *args, *keywords.values()))):
        function = Term("moved", function, place, None)  # a caller who knows the module moves it before it is called
    elif place is not None and site is not None and not opaque.is_pipeline(site):
        return opaque.call(ctx, function, place, args, keywords, site)
    if ctx.mode != "summary" and site is not None:
        given = [
            v
            for v in (*args, *keywords.values())
            if any(isinstance(tensors.as_tensor(ctx, o), Tensor) and not isinstance(o, Ref) for o in alternatives(v))
        ]
        if len(given) > 1:  # what nobody can look into takes tensors of one device, as a model does
            claims.claim(ctx, "same", [Operand(value, True, "argument") for value in given], site, weak=True)
    term = Term("call", function, tuple(args), tuple(sorted(keywords.items())), site)
    if term is not UNKNOWN and (waits(function) or sum(map(_may_matter, (*args, *keywords.values()))) > 1):
        _show_written(ctx, function, args, keywords)
        ctx.emit(term)
    return term


def _show_written(ctx: Context, function: Value, args: Arguments, keywords: Keywords) -> None:
    """What an open callee is handed has the attributes that it was given before: `self.batch = batch; self.hook.after(self)`."""
    if ctx.mode != "summary":
        return
    receiver = function.args[0] if isinstance(function, Term) and function.op == "attribute" else None
    for one in (receiver, *args, *keywords.values()):
        rec = ctx.heap.get(one) if isinstance(one, Term) and one is not UNKNOWN else None
        for key, value in rec.fields.items() if rec is not None and rec.kind == "overlay" else ():
            if isinstance(key, str) and key.startswith("."):
                ctx.emit(Term("set", one, Const(key[1:]), value))


def _may_matter(argument: Value) -> bool:
    """True for an argument that a claim of an unknown callee may be about."""
    return waits(argument) or any(isinstance(one, Tensor) for one in alternatives(argument))


def _spread(ctx: Context, args: Arguments, keywords: Keywords) -> tuple[list[Value], Keywords, bool]:
    """The arguments with `*` and `**` taken apart where they are known; False where one is not."""
    out: list[Value] = []
    named, complete = dict(keywords), True
    for one in args:
        if isinstance(one, Star):
            known = reading.items(ctx, one.value)
            complete = complete and known is not None
            out += known if known is not None else [one]
        elif isinstance(one, DoubleStar):
            rec = ctx.heap.get(one.value) if isinstance(one.value, Ref) else None
            if rec is None or rec.kind != "dict" or "*" in rec.fields:
                complete = False
                out.append(one)
            else:
                named.update({key[1]: value for key, value in rec.fields.items() if isinstance(key, tuple)})
        else:
            out.append(one)
    return out, named, complete


def spread(ctx: Context, args: Arguments) -> tuple[list[Value], bool]:
    """The elements of a display, and whether all are known."""
    found, _, complete = _spread(ctx, args, {})
    return found, complete


def _enter(ctx: Context, function: Func, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    """A call of a function of the project."""
    analysis, body = ctx.analysis, function.body
    if function.receiver is not None:
        args = [function.receiver, *args]
    summary = analysis.summary(body)
    parameters = bind(ctx, function, args, keywords, site) if summary is not None else {}
    if summary is None or not _may_unfold(ctx, body, summary, parameters):
        if ctx.mode == "summary":
            return residual(
                ctx, Func(body, function.frame, None, function.defaults, function.form), args, keywords, site
            )
        return unknown(site)
    analysis.called.add(body)
    given = body, tuple(parameters.values())
    if ctx.entered.count(given) >= MOST_EQUAL:
        return NOTHING  # the least fixed point: what comes back is what the other returns give
    ctx.entered.append(given)
    try:
        return Replay(ctx, summary, body, parameters, site).run()
    finally:
        ctx.entered.pop()


def _may_unfold(ctx: Context, body: ir.Body, summary: Summary, parameters: dict[str, Value]) -> bool:
    """Whether a summary is run here, in which it, or one of its cycle, may be running already.

    A summary leaves recursion to its callers and loses nothing. Who has no caller follows it while there is something known to follow it
    with, and one level deep with values that are open: each level of a printer of syntax trees calls itself in 20 places.
    """
    analysis = ctx.analysis
    inside = sum(one in summary.cycle for one in ctx.stack)
    if ctx.mode == "summary" and (inside or analysis.is_unfinished(body)):
        return False
    is_too_deep = ctx.stack.count(body) >= MOST_SAME or len(ctx.stack) > MOST_DEEP
    if is_too_deep or (inside > MOST_OPEN and not _tells_more(ctx, parameters)):
        analysis.hit("depth of calls")
        return False
    if not analysis.may_replay(recursive=inside > 0):
        analysis.hit("calls that were run again")
        return False
    return True


def _tells_more(ctx: Context, parameters: dict[str, Value]) -> bool:
    """True for a call with a module, or something on a known device, that no call around it was given."""
    known = {value for _, given in ctx.entered for value in given}
    return any(
        name != "@frame" and value not in known and _is_definite(ctx, value) for name, value in parameters.items()
    )


def _is_definite(ctx: Context, value: Value, nested: int = 0) -> bool:
    if isinstance(value, (Tensor, Device)):
        place = value.device if isinstance(value, Tensor) else value.place
        return place == HOST or is_elsewhere(place)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    parts = parts_of(value) if rec is None else tuple(rec.fields.values())
    is_module = rec is not None and rec.kind == "module"
    return is_module or (nested < MOST_NESTED and any(_is_definite(ctx, part, nested + 1) for part in parts))


def bind(ctx: Context, function: Func, args: Arguments, keywords: Keywords, site: Site | None) -> dict[str, Value]:
    """The values of the parameters."""
    body = function.body
    found: dict[str, Value] = {"@frame": function.frame if function.frame is not None else UNKNOWN}
    spare, defaults = dict(keywords), dict(function.defaults)
    unspread = [one for one in args if isinstance(one, (Star, DoubleStar))]
    plain = [one for one in args if not isinstance(one, (Star, DoubleStar))]
    starred = [one for one in args if isinstance(one, Star)]
    position = 0 if starred and starred == args[-len(starred) :] and len(starred) == 1 else None
    for parameter in body.parameters:
        name = parameter.name
        if parameter.kind in ("positional", "positional-only", "keyword-only"):
            if parameter.kind != "keyword-only" and plain:
                found[name] = plain.pop(0)
            elif name in spare:
                found[name] = spare.pop(name)
            elif unspread:
                one = unspread[0]
                inner = one.value if isinstance(one, (Star, DoubleStar)) else UNKNOWN
                if isinstance(one, Star):
                    found[name] = reading.element(ctx, inner) if position is None else _part(ctx, inner, position)
                    position = None if position is None else position + 1
                else:
                    found[name] = reading.item(ctx, inner, Const(name))
            else:
                found[name] = defaults.get(name, UNKNOWN)
        elif parameter.kind == "*":
            found[name] = Tup((*plain, *(one for one in unspread if isinstance(one, Star))))
            plain = []
    for parameter in body.parameters:
        if parameter.kind == "**":
            fields: dict[Any, Value] = {("k", key): value for key, value in spare.items()}
            for one in unspread:
                if isinstance(one, DoubleStar):
                    fields["*"] = reading.element(ctx, one.value)
            found[parameter.name] = ctx.new(site, "dict", None, fields, tag=("keywords", body))
    return found


def _part(ctx: Context, value: Value, position: int) -> Value:
    """What a parameter at a position is given by `*value`."""
    is_sequence = isinstance(value, (Term, Tup)) and value is not UNKNOWN
    return reading.item(ctx, value, Const(position)) if is_sequence else reading.element(ctx, value)


def construct(ctx: Context, function: Cls, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    """A call of a class of the project."""
    analysis, cls = ctx.analysis, function.cls
    is_module = classes.is_module(analysis, cls)
    fields: dict[Any, Any] = {}
    if is_module:
        default = ctx.default()
        fields = {"@device": HOST if default is None else default, "@origin": site}
        if default is None:
            fields["@implicit"] = True
    ref = ctx.new(site, "module" if is_module else "object", function, fields, tag=cls)
    maker = classes.attribute_of(ctx, function, "__new__", None)
    if isinstance(maker, Func):
        made = call(ctx, maker, [function, *args], keywords, site)
        if isinstance(made, Ref):
            ref = made
        if ctx.rec(ref) is None or ctx.rec(ref).cls != function:  # type: ignore[union-attr]
            return made
    kind = classes.container_kind(analysis, cls)
    if kind:
        ctx.heap[ref] = Rec(kind, function, containers.contents(ctx, kind, list(args), keywords))
    init = classes.attribute_of(ctx, function, "__init__", ref)
    if isinstance(init, Func):
        call(ctx, init, args, keywords, site)
        return ref
    if kind:
        return ref
    for base in classes.foreign_bases_of(analysis, cls):
        if ctx.stubs.places_module(base):
            foreign.call(ctx, base, list(args), keywords, site)
    names = classes.field_names(analysis, cls)
    is_tuple = classes.is_named_tuple(analysis, cls)
    for at, (name, has_default) in enumerate(names):
        value = args[at] if at < len(args) and not isinstance(args[at], (Star, DoubleStar)) else keywords.get(name)
        if value is None and has_default:
            value = reading.attribute(ctx, function, name)
            if isinstance(value, Partial) and value.function == Ext("dataclasses.field"):
                value = call(ctx, value.args[0], [], {}, site)
        content = value if value is not None else UNKNOWN
        ctx.put(ref, "." + name, content)
        if is_tuple:
            ctx.put(ref, ("k", at), content)
    post = classes.attribute_of(ctx, function, "__post_init__", ref)
    if post is not None:
        call(ctx, post, [], {}, site)
    return ref


class Replay:
    """A summary under actual parameters: what was left open is done now, by the same transfer functions."""

    def __init__(
        self, ctx: Context, summary: Summary, body: ir.Body, parameters: dict[str, Value], site: Site | None
    ) -> None:
        self.ctx, self.summary, self.body, self.parameters, self.site = ctx, summary, body, parameters, site
        self._memo: dict[Term, Value] = {}
        self._copies: dict[Ref, Ref] = {}
        self._residual: dict[tuple[Facts, Facts], Facts | None] = {}  # by what holds here

    def run(self) -> Value:
        """Claims and calls in their order, then effects, then what comes back."""
        ctx, summary = self.ctx, self.summary
        saved = ctx.stack, ctx.chain
        ctx.stack = (*ctx.stack, self.body)
        if self.site is not None:
            ctx.chain = (self.site, *ctx.chain)
        try:
            for event in summary.events:
                self._event(event)
            self._effects()
            result = self.value(summary.result)
            for one in summary.raised:
                ctx.raise_(self.value(one))
            if ctx.mode == "root" and self.site is None:
                claims.returned(ctx, result, self.body)
            if ctx.mode == "summary":
                for term in summary.proven:
                    for proven in alternatives(self.value(term)):
                        ctx.prove(proven)
            for term, _ in summary.trained:
                stored.trains(ctx, self._receiver() if term.args[0] == NONE else self.value(term.args[0]), self.site)
            if ctx.analysis.recorder is not None:
                ctx.analysis.recorder.replayed(self)
        finally:
            ctx.stack, ctx.chain = saved
        return result

    def _receiver(self) -> Value:
        """The object whose method is called; None for a function."""
        first = self.body.parameters[0].name if self.body.owner is not None and self.body.parameters else ""
        return self.parameters.get(first, NONE)

    def _event(self, event: Event) -> None:
        ctx = self.ctx
        if ctx.is_full:
            ctx.analysis.hit("events of a summary")
            return
        facts = self._facts(event.facts)
        if facts is None:
            return
        what = event.what
        if not facts:
            saved = ctx.facts
            self._done(what)
            ctx.facts = saved
            return
        with ctx.under(facts):
            if isinstance(what, Term) and what.op == "moved" and not event.facts <= self.summary.passed:
                self._may_move(what, facts)
            else:
                self._done(what)

    def _done(self, what: Claim | Term) -> None:
        if isinstance(what, Claim):
            operands = [Operand(self.value(value), tolerant, role) for value, tolerant, role in what.operands]
            claims.claim(self.ctx, what.kind, operands, what.site, chain=what.chain)
        else:
            self.value(what)

    def _may_move(self, move: Term, facts: Facts) -> None:
        """A move under conditions that are still open: what somebody moves to an accelerator is there, as whoever wrote that knew where it lives;
        what is moved to the CPU may still be elsewhere.
        """
        ctx, before = self.ctx, dict(self.ctx.heap)
        self.value(move)
        if move.args[1] == HOST:
            ctx.heap = join_heaps([before, ctx.heap], [NO_FACTS, facts])

    def _facts(self, facts: Facts) -> Facts | None:
        """What is left open of the conditions, None where one does not hold; many events share theirs."""
        if not facts:
            return facts
        key = facts, self.ctx.facts
        if key not in self._residual:
            given = [(self.value(term), outcome) for term, outcome in facts]
            self._residual[key] = conditions.residual(self.ctx, given)
        return self._residual[key]

    def _effects(self) -> None:
        ctx = self.ctx
        for place, rec in self.summary.effects.items():
            target = self.value(place)
            fields = list(rec.fields.items())
            if len(fields) > MOST_EFFECTS:
                ctx.analysis.hit("effects of a call")
                fields = [item for item in fields if item[0] == "@device"] + fields[:MOST_EFFECTS]
            for key, content in fields:
                if key == "@device":
                    new = self.place(content)
                    for one in alternatives(target):
                        devices.move_module(ctx, one, new)
                else:
                    here = self._field(key, content)
                    is_attribute = isinstance(key, str) and key.startswith(".")
                    ctx.put(target, key, modules.still_following(ctx, target, key, here) if is_attribute else here)

    def place(self, place: Any) -> Any:
        """A place of the summary, here."""
        if not isinstance(place, Term):
            return place
        found = self.value(place)
        return found.place if isinstance(found, Device) else found

    def value(self, value: Value) -> Value:
        """A value of the summary, here."""
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
        found = []
        for guards, option in value.options:
            facts = self._facts(guards)
            if facts is not None:
                found.append((facts, self.value(option)))
        return one_of(found) if found else NOTHING

    def _tensor(self, value: Tensor) -> Value:
        ctx, place = self.ctx, value.device
        if not isinstance(place, Term):
            if value.implicit == "default" and place == HOST:
                default = ctx.default()
                if default is not None:
                    return Tensor(default, value.rank)
            return value
        if place.op == "device_of" and self.value(place.args[0]) == NOTHING:
            return NOTHING
        here = self.place(place)
        if here == DEFAULT:  # `device=None`
            return tensors.made(ctx, value.origin, value.rank)
        if place.op == "default" and here is not place:
            implicit: Literal["", "default"] = "" if ctx.default() else "default"
            origin = value.origin if here == HOST else None
            return Tensor(here, value.rank, origin, implicit, value.follows, value.kept)
        if place.op == "device_of":  # what it was computed from tells where it was made
            for one in alternatives(self.value(place.args[0])):
                if isinstance(one, Tensor) and one.device == here:
                    rank = None if one.rank in (0, None) and value.rank == MANY else value.rank
                    return Tensor(here, rank, one.origin, one.implicit, value.follows, value.kept)
        return Tensor(here, value.rank, value.origin, value.implicit, value.follows, value.kept)

    def _term(self, term: Term) -> Value:
        if not term.waits:
            is_proven = self.ctx.mode == "root" and term in self.summary.proven
            return Tensor(Term("own", term), MANY) if is_proven else term
        known = self._memo.get(term)
        if known is not None:
            return known
        self._memo[term] = UNKNOWN  # a term that holds itself
        found = self._run(term)
        if isinstance(found, Term) and found is not UNKNOWN and self.ctx.mode == "root" and term in self.summary.proven:
            tensor = tensors.as_tensor(self.ctx, found)
            found = tensor if isinstance(tensor, Tensor) else Tensor(Term("own", term if found.waits else found), MANY)
        self._memo[term] = found
        return found

    def _run(self, term: Term) -> Value:
        return _OPERATIONS[term.op](self, term) if self.ctx.analysis.may_step() else UNKNOWN

    def _copy(self, ref: Ref) -> Value:
        """An object that the summary makes, made for this call."""
        found = self._copies.get(ref)
        if found is not None:
            return found
        is_nested = _nesting(ref.place) >= MOST_NESTED
        if is_nested and len(self._copies) >= MOST_COPIES:
            self.ctx.analysis.hit("objects of a call")
            return UNKNOWN
        depth = self.ctx.stack.count(self.body)
        where = self.site if depth < 2 else (self.site, depth)  # each level of a recursion makes its own
        place = ref.place if is_nested else ("at", where, ref.place)
        found = self._copies[ref] = Ref(place)
        self.ctx.made.add(place)
        rec = self.summary.heap.get(ref)
        if rec is not None:
            self.ctx.heap[found] = Rec(rec.kind, rec.cls, {})
            cls = self.value(rec.cls) if rec.cls is not None else None
            fields = {key: self._field(key, content) for key, content in rec.fields.items()}
            if "@implicit" in fields and self.ctx.default() is not None:
                del fields["@implicit"]
                fields["@device"] = self.ctx.default()  # nobody said where: the default device of this call
            self.ctx.heap[found] = Rec(rec.kind, cls, fields)
        return found

    def _field(self, key: Any, content: Any) -> Any:
        if isinstance(key, str) and key.startswith("@"):
            return self.place(content)
        return self.value(content)


# How a value of a summary is made into one here, by its type; a value of any other type is the same for each call.
_VALUES: dict[type, Callable[[Replay, Any], Value]] = {
    Tensor: Replay._tensor,
    Term: Replay._term,
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
    tensors.store_item(here.ctx, here.value(target), here.value(key), here.value(value), site)
    return NONE


def _saved(here: Replay, term: Term) -> Value:
    name, keys, leaves, site, chain = term.args[:5]
    file = paths.file_of(here.ctx, here.value(name))
    stored.write(here.ctx, file, here.value(keys), here.value(leaves), site, chain)
    return NONE


def _loaded(here: Replay, term: Term) -> Value:
    name, site, chain, owner, found = term.args[:5]
    stored.read(here.ctx, paths.file_of(here.ctx, here.value(name)), site, chain, here.value(owner), found)
    return NONE


def _set(here: Replay, term: Term) -> Value:
    modules.store_named(here.ctx, *map(here.value, term.args))
    return NONE


def _item(here: Replay, term: Term) -> Value:
    held, key = here.all_of(term.args[:2])
    return reading.item(here.ctx, held, key, here.site)


def _called(here: Replay, term: Term) -> Value:
    function, arguments, named, site = term.args
    keywords = {name: here.value(one) for name, one in named}
    return call(here.ctx, here.value(function), [here.value(one) for one in arguments], keywords, site)


def _binary(here: Replay, term: Term) -> Value:
    operator, *operands = term.args
    left, right = map(here.value, operands)
    in_place = operator.endswith("=")
    return tensors.binary(here.ctx, operator.removesuffix("="), left, right, None, in_place=in_place)


def _carried(here: Replay, term: Term) -> Value:
    devices.carry(here.ctx, here.value(term.args[0]), here.place(term.args[1]))
    return NONE


def _handed(here: Replay, term: Term) -> Value:
    foreign.hand_over(here.ctx, [here.value(one) for one in term.args[1:]])
    return NONE


# What a term waits to do, by its operation.
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
    "attribute": lambda here, term: reading.attribute(here.ctx, here.value(term.args[0]), term.args[1], here.site),
    "item": _item,
    "element": lambda here, term: reading.element(here.ctx, here.value(term.args[0])),
    "unpack": lambda here, term: reading.unpacked(here.ctx, here.value(term.args[0]), *term.args[1:4]),
    "call": _called,
    "binary": _binary,
    "device_of": lambda here, term: _as_value(devices.device_of(here.ctx, here.value(term.args[0]))),
    "as_device": lambda here, term: _as_value(devices.as_device(here.ctx, here.value(term.args[0]))),
    "moved": lambda here, term: devices.move(
        here.ctx, here.value(term.args[0]), here.place(term.args[1]), term.args[2]
    ),
    "carried": _carried,
    "handed": _handed,
    "enter": lambda here, term: foreign.entered(here.ctx, here.value(term.args[0]), term.args[1]),
    "is_none": lambda here, term: conditions.is_none(here.value(term.args[0])),
    "isinstance": lambda here, term: conditions.is_instance(here.ctx, *here.all_of(term.args[:2])),
    "equal": lambda here, term: conditions.equal(*here.all_of(term.args[:2])),
    "not": lambda here, term: conditions.negated(here.value(term.args[0])),
    "is_cuda": lambda here, term: conditions.on_accelerator(here.value(term.args[0])),
    "device_type": lambda here, term: conditions.device_type(here.place(term.args[0])),
    "has": lambda here, term: foreign.has_attribute(here.ctx, here.value(term.args[0]), term.args[1]),
}


def _as_value(place: Any) -> Value:
    return place if isinstance(place, Term) else Device(place)


def _nesting(place: Any) -> int:
    count = 0
    while isinstance(place, tuple) and len(place) == 3 and place[0] == "at":
        place = place[2]
        count += 1
    return count


__all__ = ["Replay", "Sort", "bind", "call", "construct", "join", "options_of", "residual", "spread", "unknown"]
