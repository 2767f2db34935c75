"""Calls: what is called, and with what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import (
    claims,
    classes,
    containers,
    devices,
    dispatch,
    foreign,
    modules,
    opaque,
    options,
    reading,
    samples,
    specialised,
    stored,
    tensors,
)
from torchdevlint.infer.choice import Choice, is_of_data
from torchdevlint.infer.joins import join, one_of
from torchdevlint.infer.state import RENEWED, Facts, join_heaps
from torchdevlint.infer.summary import Operand, Summary
from torchdevlint.infer.values import (
    FALSE,
    HOST,
    NONE,
    NOTHING,
    NOWHERE,
    NUMBER,
    TRUE,
    UNKNOWN,
    UNMOVED,
    Bound,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    OneOf,
    Partial,
    Place,
    Rec,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    is_elsewhere,
    is_open,
    options_of,
    parts_of,
    terms_in,
    unknown,
    waits,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

MOST_SHOWN = 16  # attributes, the last written, that a callee finds that nobody knows yet
MOST_SAME = 3  # times that one body may be on the stack
MOST_OPEN = 1  # ... of functions that call each other, with values that are open
MOST_EQUAL = 2  # ... with the same values: the second iteration towards the fixed point
MOST_DEEP = 14
_MOST_PARTS = 5  # objects in objects that are looked into for one whose place is known
_MOST_CALLEES = 4
_FORWARD = ".forward"
_OF_TORCH = Const("pt")  # as `return_tensors`

Arguments = Sequence[Value]
Keywords = dict[str, Value]


def call(
    ctx: Context,
    function: Value,
    args: Arguments,
    keywords: Keywords,
    site: Site | None,
    *,
    of_each: bool = False,
) -> Value:
    """`function(*args, **keywords)`. `of_each`: where it may be one of several, the program chooses none, and calls each."""
    if isinstance(function, OneOf):
        found = []
        elsewhere = [one for _, one in function.options if _is_elsewhere(ctx, one)]
        choice, is_open_too = Choice(ctx.choice), any(isinstance(one, Term) for _, one in function.options)
        around = ctx.turns
        ctx.chosen.append(site)
        for at, (guards, one) in enumerate(_callees(ctx, function.options)):
            ctx.turns = (*around, (site, at)) if at else around
            if one != NONE:
                # What a test makes of something that nobody knows: `if isinstance(net, BatchNorm2d): net = ...`
                is_conversion = is_open_too and is_of_data(guards)
                is_choice = is_conversion or (len(elsewhere) > 1 and one in elsewhere and not of_each)
                ctx.choice = choice.next(guards, ctx.facts) if is_choice else choice.outer
                with ctx.under(guards):
                    found.append((guards, call(ctx, one, args, keywords, site)))
        ctx.choice, ctx.turns = choice.outer, around
        for fault in choice.certain():
            ctx.analysis.report(fault, ctx)
        return one_of(found)
    several = next((at for at, one in enumerate(args) if _is_star(one) and _is_one_of_known(one)), None)
    if several is not None:
        return _call_with_each(ctx, function, args, several, keywords, site)
    args, keywords, is_spread = _spread(ctx, args, keywords)
    if isinstance(function, (Ext, Bound, Term)):
        stored.called(ctx, function, [*args, *keywords.values()], site)
    if isinstance(function, Func):
        if dispatch.is_dispatched(function.body) and function.form != dispatch.DISPATCHED:
            if dispatch.waits_for_class(ctx, args):
                return residual(ctx, function, args, keywords, site)
            return call(ctx, dispatch.chosen(ctx, function, args), args, keywords, site)
        if not is_spread and _is_left_to_callers(function, args):
            return residual(ctx, function, args, keywords, site)
        return _enter(ctx, function, args, keywords, site)
    if isinstance(function, Cls):
        return construct(ctx, function, args, keywords, site)
    if isinstance(function, Ext):
        if function.name.startswith("torch.") and any(isinstance(one, DoubleStar) for one in args):
            # Keywords that nobody knows may say where: `torch.zeros(3, **options)`.
            return residual(ctx, function, args, keywords, site) if ctx.mode == "summary" else unknown(site)
        if ctx.mode == "summary" and any(map(_is_open_star, args)) and ctx.stubs.places_module(function.name):
            return residual(ctx, function, args, keywords, site)  # which of them is the model, a caller tells
        made = foreign.call(ctx, function.name, list(args), keywords, site)
        if keywords.get("requires_grad") == TRUE:
            made = tensors.trained(made)
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
        if keywords.get("return_tensors") == _OF_TORCH:
            return opaque.encoded(ctx, function, site)
        if function is UNKNOWN:
            return _made_by_nobody_known(ctx, site)
        if function.op == "attribute":
            if function.args[1] == "set_defaults":
                options.remember(ctx, keywords)
            return tensors.open_method(ctx, function, list(args), keywords, site)
        return residual(ctx, function, args, keywords, site)
    return UNKNOWN


def _made_by_nobody_known(ctx: Context, site: Site | None) -> Value:
    """What an unknown function gives: another object each time, of which no move is known yet."""
    made = unknown(site)
    ctx.heap.pop(made, None)
    return made


def _callees(ctx: Context, options: Sequence[tuple[Facts, Value]]) -> Sequence[tuple[Facts, Value]]:
    """The first of several things that may be called, of layers those that hold something before the others."""
    if len(options) <= _MOST_CALLEES:
        return options
    return sorted(options, key=lambda option: modules.is_empty(ctx, option[1]))[:_MOST_CALLEES]


def _is_one_of_known(argument: Value) -> bool:
    """True for `**options` where `options` is one of several dicts of this program."""
    value = argument.value if isinstance(argument, (Star, DoubleStar)) else None
    return (
        isinstance(value, OneOf) and bool(value.options) and all(isinstance(o, (Ref, Tup)) for o in alternatives(value))
    )


def _call_with_each(
    ctx: Context, function: Value, args: Arguments, at: int, keywords: Keywords, site: Site | None
) -> Value:
    """A call with each of the containers that one of its `*` or `**` may be."""
    spread_out = args[at]
    assert isinstance(spread_out, (Star, DoubleStar))
    before, found, heaps = ctx.heap, [], []
    several = list(options_of(spread_out.value))[:_MOST_CALLEES]
    for guards, one in several:
        ctx.heap = dict(before)
        with ctx.under(guards):
            given = [*args[:at], type(spread_out)(one), *args[at + 1 :]]
            found.append((guards, call(ctx, function, given, keywords, site)))
        heaps.append(ctx.heap)
    ctx.heap = join_heaps(heaps, [guards for guards, _ in several])
    return one_of(found)


def _is_open_star(argument: Value) -> bool:
    return isinstance(argument, (Star, DoubleStar)) and is_open(argument.value)


def _is_left_to_callers(function: Func, args: Arguments) -> bool:
    """True where nobody here knows what `*args` and `**options` are. A constructor is run all the same, as what it makes is used behind it."""
    waiting = [one for one in args if _is_open_star(one)]
    is_of_options = all(isinstance(one, DoubleStar) for one in waiting)
    return bool(waiting) and not (function.body.name == "__init__" and is_of_options)


def _is_elsewhere(ctx: Context, function: Value) -> bool:
    """True for a function, a class or an object of a class of another file."""
    rec = ctx.rec(function) if isinstance(function, Ref) else None
    held = rec.cls if rec is not None else function
    body = held.body if isinstance(held, Func) else held.cls.body if isinstance(held, Cls) else None
    return body is not None and ctx.analysis.unit_of(body) is not ctx.unit


def _call_object(ctx: Context, ref: Ref, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    rec = ctx.rec(ref)
    if rec is None or rec.kind == "overlay":
        return residual(ctx, ref, args, keywords, site)
    if rec.kind == "module":
        if site is not None and isinstance(rec.cls, Cls):
            ctx.analysis.heard.met.add((site, None))  # who knows the class sees what becomes of its inputs
        if ctx.running.count(ref) >= MOST_EQUAL:
            return unknown(site)  # a hook of it calls it
        ctx.running.append(ref)
        try:
            args, keywords = modules.hooked(ctx, ref, list(args), keywords, site)
            result = _result_of(ctx, ref, ctx.heap[ref], args, keywords, site)  # a hook may have moved it
            return modules.given_back(ctx, ref, list(args), keywords, result, site)
        finally:
            ctx.running.pop()
    return _result_of(ctx, ref, rec, args, keywords, site)


def _result_of(ctx: Context, ref: Ref, rec: Rec, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    replaced = rec.fields.get(_FORWARD) if rec.kind == "module" else None
    if replaced is not None:  # `module.forward = wrapped`
        return call(ctx, replaced, args, keywords, site)
    if isinstance(rec.cls, Cls):
        names = ("__call__", "forward") if rec.kind == "module" else ("__call__",)
        for name in names:
            method = classes.attribute_of(ctx, rec.cls, name, ref)
            if method is not None:
                return call(ctx, method, args, keywords, site)
        bases = classes.foreign_bases_of(ctx.analysis, rec.cls.cls)
        if args and any(base.endswith("ContextDecorator") for base in bases):
            return Partial(Ext("contextlib.decorated"), (ref, args[0]), ())
    if rec.kind == "module":
        return modules.call(ctx, ref, rec, list(args), keywords, site)
    if rec.kind == "manager" and args:
        return Partial(Ext("contextlib.decorated"), (ref, args[0]), ())
    if isinstance(rec.cls, Ext):
        return foreign.of_object(ctx, ref, rec.cls.name, "__call__", list(args), keywords, site)
    return unknown(site)


def residual(ctx: Context, function: Value, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    """A call of something that only a caller can tell."""
    receiver = _registering_buffer(ctx, function, args, keywords)
    if receiver is not None:
        modules.register_buffer(ctx, receiver, list(args), keywords)  # as `self.name = tensor` does
        return NONE
    several = opaque.placed(ctx, function)
    if len(several) < 2:
        return _open_call(ctx, function, several[0][1] if several else None, args, keywords, site)
    found = []
    for guards, place in several:
        with ctx.under(guards):
            found.append((guards, _open_call(ctx, function, place, args, keywords, site)))
    return one_of(found)


def _open_call(
    ctx: Context, function: Value, place: Place | None, args: Arguments, keywords: Keywords, site: Site | None
) -> Value:
    """A call of something unknown, which was moved to `place` if it is a module; None, or a place that is none, where nobody has moved it."""
    place = None if place in (HOST, NOWHERE, UNMOVED) else place
    if place is not None and site is not None:
        args = [samples.sample(ctx, one, site) for one in args]
    is_left = ctx.mode == "summary" and any(map(waits, (function, *args, *keywords.values())))
    if place is not None and site is not None and not is_left and not opaque.is_pipeline(site):
        return opaque.call(ctx, function, place, args, keywords, site)
    if ctx.mode != "summary" and site is not None and len(args) + len(keywords) > 1:
        given = [
            v
            for v in opaque.inputs(args, keywords)
            if any(isinstance(tensors.as_tensor(ctx, o), Tensor) and not isinstance(o, Ref) for o in alternatives(v))
        ]
        # What nobody can look into takes tensors of one device, as a model does; a method of such an object may take some from the host.
        is_method = isinstance(function, Term) and function.op == "attribute" and function.args[1] != "forward"
        if len(given) > 1 and not is_method and not opaque.is_of_host_library(function):
            claims.claim(ctx, "same", [Operand(value, True, "argument") for value in given], site, weak=True)
    term = Term("call", function, tuple(args), tuple(sorted(keywords.items())), site)
    if term is not UNKNOWN and (waits(function) or sum(map(_may_matter, (*args, *keywords.values()))) > 1):
        shown = function.args[0] if isinstance(function, Term) and function.op == "moved" else function
        _show_written(ctx, shown, args, keywords)
        ctx.emit(term)
        if ctx.mode == "summary":
            receiver = function.args[0] if isinstance(function, Term) and function.op in ("attribute", "got") else NONE
            parts = (one for value in (*args, *keywords.values()) for one in _with_parts(value))
            handed = (function, receiver, *parts, *_holders(function))
            ctx.opened += 1
            ctx.handed_on.update(one for one in handed if isinstance(one, Ref) or _is_place(one))
            for one in (*args, *keywords.values()):
                rec = ctx.heap.get(one) if isinstance(one, Ref) else None
                if rec is not None and rec.kind in ("list", "dict"):
                    ctx.given_items[one] = rec
    return term


def _with_parts(value: Value, deep: int = 3) -> Iterator[Value]:
    """An argument, and what it is made of: the items of a tuple, the variables around a function, the object of a method."""
    yield value
    for part in parts_of(value) if deep else ():
        if part is not None:
            yield from _with_parts(part, deep - 1)


def _is_place(value: Value) -> bool:
    """True for an object that a caller gives, and for an attribute of one; the variables around a function are none."""
    is_frame = isinstance(value, Term) and value.op == "parameter" and value.args[1] == "@frame"
    return isinstance(value, Term) and value.op in ("parameter", "attribute") and value.waits and not is_frame


def _holders(function: Value) -> Iterator[Term]:
    """Whose containers hold what is called: it may know them as well. `for hook in self.hooks: hook.before_batch()`."""
    is_held, at = False, function
    while isinstance(at, Term) and at.op in _PATHS and isinstance(at.args[0], Term):
        is_held = is_held or at.op != "attribute"
        at = at.args[0]
        if is_held:
            yield at


_PATHS = frozenset({"attribute", "element", "item", "unpack", "got"})


def _registering_buffer(ctx: Context, function: Value, args: Arguments, keywords: Keywords) -> Value | None:
    """The module of `self.register_buffer("name", tensor)` in one of its methods, where all is known but for the tensor."""
    if not isinstance(function, Term) or function.op != "attribute" or function.args[1] != "register_buffer":
        return None
    named = [*args[:1], *args[2:], *(value for name, value in keywords.items() if name != "tensor")]
    receiver: Value = function.args[0]
    is_settled = bool(args) and all(isinstance(one, Const) for one in named)
    is_of_module = ctx.mode == "summary" and is_settled and ctx.analysis.is_receiver_of_module(receiver)
    return receiver if is_of_module else None


def _show_written(ctx: Context, function: Value, args: Arguments, keywords: Keywords) -> None:
    """What an open callee is handed has the attributes and items that it was given before: `self.batch = batch; self.hook.after(self)`."""
    if ctx.mode != "summary":
        return
    receiver = function.args[0] if isinstance(function, Term) and function.op == "attribute" else function
    shown = {receiver, *args, *keywords.values(), *_holders(function)}
    for one, rec in list(ctx.heap.items()):
        if rec.kind != "overlay" or not isinstance(one, Term) or not (one in shown or _is_part(one, shown)):
            continue
        if RENEWED in rec.fields:
            ctx.emit(Term("renewed", one, rec.fields[RENEWED]))
        written = [(key[1:], value) for key, value in rec.fields.items() if isinstance(key, str) and key[:1] == "."]
        if len(written) > MOST_SHOWN:
            ctx.analysis.hit("attributes that an open callee is shown")
        for name, value in written[-MOST_SHOWN:]:
            ctx.emit(Term("set", one, Const(name), _by_now(ctx, value)))
            ctx.shown[one, "." + name] = value


def _by_now(ctx: Context, value: Value) -> Value:
    """A value without what the turn before of a loop has made by a call that this turn is still to make."""
    if not isinstance(value, OneOf):
        return value
    held = [
        option for option in value.options if all(one.op != "call" or one in ctx.done for one in terms_in((option[1],)))
    ]
    return one_of(held) if held else value


def _is_part(place: Term, wholes: Collection[Value]) -> bool:
    """True for an attribute of one of them, or an attribute of that."""
    at: Value = place
    while isinstance(at, Term) and at.op == "attribute":
        at = at.args[0]
        if at in wholes:
            return True
    return False


def _may_matter(argument: Value) -> bool:
    """True for an argument that a claim of an unknown callee may be about."""
    return waits(argument) or any(isinstance(one, Tensor) for one in alternatives(argument))


def _spread(ctx: Context, args: Arguments, keywords: Keywords) -> tuple[list[Value], Keywords, bool]:
    """The arguments with `*` and `**` taken apart where they are known; False where one is not."""
    if not any(map(_is_star, args)):
        return list(args), dict(keywords), True
    out: list[Value] = []
    named, complete = dict(keywords), True
    for one in args:
        if isinstance(one, Star):
            known = reading.items(ctx, one.value)
            complete = complete and known is not None
            out += known if known is not None else [one]
        elif isinstance(one, DoubleStar):
            rec = ctx.heap.get(one.value) if isinstance(one.value, Ref) else None
            held = rec.items if rec is not None and rec.kind == "dict" and "*" not in rec.fields else None
            if held is None or not all(isinstance(key[1], str) for key in held):
                complete = False
                out.append(one)
            else:
                named.update({key[1]: value for key, value in held.items()})
        else:
            out.append(one)
    return out, named, complete


def _is_star(argument: Value) -> bool:
    return isinstance(argument, (Star, DoubleStar))


def spread(ctx: Context, args: Arguments) -> tuple[list[Value], bool]:
    """The elements of a display, and whether all are known."""
    found, _, complete = _spread(ctx, args, {})
    return found, complete


def _enter(ctx: Context, function: Func, args: Arguments, keywords: Keywords, site: Site | None) -> Value:
    """A call of a function of the project."""
    from torchdevlint.infer import managers

    analysis, body = ctx.analysis, function.body
    if function.receiver is not None:
        args = [function.receiver, *args]
    summary = analysis.summary(body)
    parameters = bind(ctx, function, args, keywords, site) if summary is not None else {}
    if summary is not None and managers.pauses(body):
        analysis.heard.called.add(body)
        return managers.made(ctx, function, parameters, site)
    is_run_anew = summary is not None and specialised.goes_over_known(ctx, summary, body, parameters)
    waits_for_globals = summary is not None and specialised.waits_for_globals(ctx, summary, body, parameters)
    if (
        summary is None
        or waits_for_globals
        or not (analysis.may_replay(recursive=False) if is_run_anew else _may_unfold(ctx, body, summary, parameters))
    ):
        if ctx.mode == "summary":
            return residual(
                ctx, Func(body, function.frame, None, function.defaults, function.form), args, keywords, site
            )
        return unknown(site)
    if ctx.mode == "summary" and body.is_cached and isinstance(summary.result, Ref):
        return residual(ctx, function, args, keywords, None)  # each call gives the same object
    analysis.heard.called.add(body)
    given = body, tuple(parameters.values())
    if ctx.entered.count(given) >= MOST_EQUAL:
        return NOTHING  # the least fixed point: what comes back is what the other returns give
    ctx.entered.append(given)
    try:
        from torchdevlint.infer.evaluation import Evaluation
        from torchdevlint.infer.replay import Replay

        called = Replay(ctx, summary, body, parameters, site)
        if not is_run_anew:
            return called.run()
        return called.run_anew(lambda: Evaluation.of_call(ctx, body, parameters).run().returned())
    finally:
        ctx.entered.pop()


def _may_unfold(ctx: Context, body: ir.Body, summary: Summary, parameters: dict[str, Value]) -> bool:
    """Whether a summary is run here, in which it, or one of its cycle, may be running already.

    A summary leaves recursion to its callers and loses nothing. Who has no caller follows it while there is something known to follow it
    with, and one level deep with values that are open: each level of a printer of syntax trees calls itself in 20 places.
    """
    analysis = ctx.analysis
    inside = sum(one in summary.cycle for one in ctx.stack)
    if ctx.mode == "summary" and (analysis.is_unfinished(body) or (inside and not _has_definite(ctx, parameters))):
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
    return _has_definite(ctx, {name: value for name, value in parameters.items() if value not in known})


def _has_definite(ctx: Context, parameters: dict[str, Value]) -> bool:
    """True for a call that is given something of which no caller knows more."""
    return any(name != "@frame" and _is_definite(ctx, value) for name, value in parameters.items())


def _is_definite(ctx: Context, value: Value, nested: int = 0) -> bool:
    if isinstance(value, (Tensor, Device)):
        place = value.device if isinstance(value, Tensor) else value.place
        return place == HOST or is_elsewhere(place)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    parts = parts_of(value) if rec is None else tuple(rec.fields.values())
    is_module = rec is not None and rec.kind == "module"
    return is_module or (nested < _MOST_PARTS and any(_is_definite(ctx, part, nested + 1) for part in parts))


_TRANSPARENT = frozenset("staticmethod classmethod no_grad enable_grad inference_mode override export".split())


def raises(ctx: Context, function: Value, args: Arguments, keywords: Keywords) -> bool:
    """True for arguments that a function or class of the project does not take: the call raises `TypeError`, and nothing comes of it."""
    called, own = (_constructor(ctx, function), 1) if isinstance(function, Cls) else (function, 0)
    if not isinstance(called, Func) or called.form or any(map(_is_star, args)):
        return False
    body = called.body
    if any(name.rpartition(".")[2] not in _TRANSPARENT for name in body.decorators):
        return False
    kinds = {parameter.kind for parameter in body.parameters}
    named = [one for one in body.parameters if one.kind not in ("*", "**")]
    positional = [one.name for one in named if one.kind != "keyword-only"]
    count = len(args) + (1 if called.receiver is not None else own)
    if count > len(positional) and "*" not in kinds:
        return True
    if "**" not in kinds and not keywords.keys() <= {one.name for one in named}:
        return True
    filled = {*positional[:count], *keywords}
    return any(one.default is None and one.name not in filled for one in named)


def _constructor(ctx: Context, cls: Cls) -> Value | None:
    """The constructor of a class that nothing else makes objects of."""
    if cls.cls.body.decorator_registers or classes.metaclass_of(ctx, cls.cls) is not None:
        return None
    known = "__init__" in cls.cls.methods or all(map(classes.is_base, classes.foreign_bases_of(ctx.analysis, cls.cls)))
    is_made_so = known and classes.attribute_of(ctx, cls, "__new__", None) is None
    return classes.attribute_of(ctx, cls, "__init__", None) if is_made_so else None


def _of_decorator(body: ir.Body, name: str, site: Site | None) -> Value:
    """What a function needs and no call gives: its decorator does, from what the user has written down (`hydra.main`, `click.command`)."""
    return Term("attribute", options.of_user(site), name) if body.decorators and body.owner is None else UNKNOWN


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
                elif name in defaults and isinstance(inner, Term) and waits(inner):
                    found[name] = call(ctx, Term("attribute", inner, "get"), [Const(name), defaults[name]], {}, None)
                else:
                    found[name] = reading.item(ctx, inner, Const(name))
            else:
                found[name] = defaults.get(name, _of_decorator(body, name, site))
        elif parameter.kind == "*":
            found[name] = Tup((*plain, *(one for one in unspread if isinstance(one, Star))))
            plain = []
    for parameter in body.parameters:
        if parameter.kind == "**":
            fields: dict[Any, Value] = {("k", key): value for key, value in spare.items()}
            for one in unspread:
                if isinstance(one, DoubleStar):
                    fields["*"] = reading.item(ctx, one.value, NUMBER)
            found[parameter.name] = ctx.new(site, "dict", None, fields, tag=("keywords", body))
    return found


def _part(ctx: Context, value: Value, position: int) -> Value:
    """What a parameter at a position is given by `*value`."""
    is_sequence = isinstance(value, (Term, Tup)) and value is not UNKNOWN
    return reading.item(ctx, value, Const(position)) if is_sequence else reading.element(ctx, value)


def bare(ctx: Context, function: Cls, site: Site | None, tag: object) -> Ref:
    """What `object.__new__(cls)` gives: a module is one before its constructor is run."""
    if not classes.is_module(ctx.analysis, function.cls):
        return ctx.new(site, "object", function, {}, tag=tag)
    default = ctx.default()
    fields: dict[Any, Any] = {"@device": HOST if default is None else default, "@origin": site}
    if default is None:
        fields["@implicit"] = True
    return ctx.new(site, "module", function, fields, tag=tag)


def construct(
    ctx: Context, function: Cls, args: Arguments, keywords: Keywords, site: Site | None, *, is_raw: bool = False
) -> Value:
    """A call of a class of the project. `is_raw`: by the `__call__` of its metaclass."""
    analysis, cls = ctx.analysis, function.cls
    meta = classes.metaclass_of(ctx, cls) if not is_raw else None
    caller = classes.attribute_of(ctx, meta, "__call__", function) if meta is not None else None
    if caller is not None:
        return call(ctx, caller, args, keywords, site)
    if classes.is_enum(analysis, cls) and len(args) == 1 and not keywords:
        return _member(ctx, function, args[0], site)
    ref = bare(ctx, function, site, cls)
    maker = classes.attribute_of(ctx, function, "__new__", None)
    if isinstance(maker, Func):
        made = call(ctx, maker, [function, *args], keywords, site)
        if isinstance(made, Ref):
            ref = made
        if ctx.rec(ref) is None or ctx.rec(ref).cls != function:  # type: ignore[union-attr]
            return made
    else:
        fill_tuple(ctx, ref, function, args, keywords, site)
    kind = classes.container_kind(analysis, cls)
    if kind:
        ctx.heap[ref] = Rec(kind, function, {})
    wrapped = classes.wrapped_kind(analysis, cls)
    if wrapped:
        ctx.put(ref, ".data", ctx.new(site, wrapped, None, {}, tag=(cls, "data")))
    if classes.is_exception(analysis, cls):
        # Whatever its constructor does (Objects/exceptions.c, `BaseException_new`).
        ctx.put(ref, ".args", Tup(tuple(args)))
    init = classes.attribute_of(ctx, function, "__init__", ref)
    if isinstance(init, Func):
        call(ctx, init, args, keywords, site)
        return ref
    if kind or wrapped:
        containers.fill(ctx, ref, list(args), keywords)
        return ref
    for placing in classes.foreign_bases_of(analysis, cls):
        if ctx.stubs.places_module(placing):
            foreign.call(ctx, placing, list(args), keywords, site)
    made_by = (find(analysis, cls) for find in (classes.layer_of, classes.optimizer_of, classes.loader_of))
    base = next(filter(None, made_by), "")
    if base:
        call(ctx, Ext(base + ".__init__"), [ref, *args], keywords, site)
    if not ctx.heap[ref].fields or not classes.is_tuple(analysis, cls):
        fill(ctx, function, ref, list(args), keywords, site)
    return ref


def fill_tuple(ctx: Context, ref: Ref, function: Cls, args: Arguments, keywords: Keywords, site: Site | None) -> None:
    """What `__new__` does of a tuple, or of what `namedtuple` has made."""
    own = classes.bases_of(ctx.analysis, function.cls)
    rows = (ctx.analysis.unit_of(one.body).rows.get(one) for one in own)
    row = next((one for one in rows if one is not None), None)
    if row is not None:
        made = ctx.rec(call(ctx, row, args, keywords, site))
        ctx.heap[ref] = Rec("object", function, made.fields if made is not None else {})
    elif classes.is_tuple(ctx.analysis, function.cls) and not classes.is_named_tuple(ctx.analysis, function.cls):
        ctx.heap[ref] = Rec("object", function, containers.contents(ctx, "list", list(args), {}))


def _member(ctx: Context, function: Cls, value: Value, site: Site | None) -> Value:
    """`Kind("value")`: the member of an `Enum` that has this value, or one of them."""
    names = [name for name in function.cls.body.local_names if not name.startswith("_")]
    members = [reading.attribute(ctx, function, name, site) for name in sorted(names)]
    held = [
        (one, rec.fields.get(".value"))
        for one in members
        if (rec := ctx.rec(one)) is not None and ".value" in rec.fields
    ]
    fitting = [one for one, own in held if own == value] or [one for one, _ in held]
    return join(*fitting) if fitting else unknown(site)


def fill(ctx: Context, function: Cls, ref: Ref, args: list[Value], keywords: Keywords, site: Site | None) -> None:
    """What the constructor of a dataclass or named tuple does."""
    cls, given = function.cls, classes.given_once(ctx.analysis, function.cls)
    is_tuple = classes.is_named_tuple(ctx.analysis, cls)
    for_post: list[Value] = []
    for at, (name, has_default) in enumerate(classes.field_names(ctx.analysis, cls, with_given=True)):
        default = reading.attribute(ctx, function, name) if has_default else None
        field = default if isinstance(default, Partial) and default.function == Ext("dataclasses.field") else None
        is_argument = field is None or dict(field.keywords).get("init") != FALSE
        value = keywords.get(name)
        if is_argument and args and not isinstance(args[0], (Star, DoubleStar)):
            value = args.pop(0)
        if value is None and is_argument and args:
            given_by = args[-1]
            value = reading.item(ctx, given_by.value, Const(name)) if isinstance(given_by, DoubleStar) else None
            value = None if value in (UNKNOWN, NOTHING) else value
        if value is None:
            value = default if field is None else call(ctx, field.args[0], [], {}, site) if field.args else None
        content = value if value is not None else UNKNOWN
        if name in given:
            for_post.append(content)
            continue
        ctx.put(ref, "." + name, content)
        if is_tuple:
            ctx.put(ref, ("k", at), content)
    post = classes.attribute_of(ctx, function, "__post_init__", ref)
    if post is not None:
        call(ctx, post, for_post, {}, site)
