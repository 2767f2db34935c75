"""Python's standard library as a table: what a function gives in terms of what it is given, by its dotted name."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import classes, containers, devices, options, reading, tensors
from torchdevlint.infer.values import (
    HOST,
    MANY,
    NONE,
    NOWHERE,
    NUMBER,
    UNKNOWN,
    Bound,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    Partial,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    is_open,
    join,
    lift,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

Args = list[Value]
Keywords = dict[str, Value]
Handler = Callable[["Context", Args, Keywords, "Site | None"], Value]

_MOST_PARSED = 2000  # characters of a text that is read here
_MOST_FOLDED = 8  # items of a list whose reduction is followed one by one
_MOST_LEAVES = 4  # levels of containers that a function is mapped over


def find(name: str) -> Handler | None:
    """What handles a call of a dotted name; None where this table knows nothing of it."""
    return _TABLE.get(name)


def _call(ctx: Context, function: Value, args: Args, site: Site | None, keywords: Keywords | None = None) -> Value:
    from torchdevlint.infer.calls import call

    return call(ctx, function, args, keywords or {}, site)


def _at(args: Args, position: int) -> Value:
    return args[position] if position < len(args) else UNKNOWN


def stream(ctx: Context, site: Site | None, value: Value, tag: str) -> Value:
    """An iterator over such values."""
    return ctx.new(site, "generator", None, {"*": value}, tag=tag)


def listed(ctx: Context, site: Site | None, values: list[Value], tag: str) -> Value:
    """A list of known items."""
    return ctx.new(site, "list", None, {("k", at): one for at, one in enumerate(values)}, tag=tag)


# ---------------------------------------------------------------------------------------------------- itertools


def _elements(position: int) -> Handler:
    """The elements of one of the arguments, some of them."""

    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        return stream(ctx, site, reading.element(ctx, _at(args, position)), "elements")

    return handle


def _joined(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`itertools.chain(first, second)`: in order, where the items of all are known."""
    several = [reading.items(ctx, one) for one in args]
    known = [one for items in several for one in items or ()]
    if None not in several and 0 < len(known) <= _MOST_FOLDED:
        return listed(ctx, site, known, "chain")
    return stream(ctx, site, join(*[reading.element(ctx, one) for one in args]) if args else UNKNOWN, "chain")


def _chained(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return stream(ctx, site, reading.element(ctx, reading.element(ctx, _at(args, 0))), "chained")


def _zipped(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return stream(ctx, site, Tup(tuple(reading.element(ctx, one) for one in args)), "zipped")


def _starmap(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return stream(ctx, site, _call(ctx, _at(args, 0), [Star(reading.element(ctx, _at(args, 1)))], site), "starmap")


def _accumulate(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    one = reading.element(ctx, _at(args, 0))
    function = keywords.get("func", args[1] if len(args) > 1 else None)
    more = tensors.binary(ctx, "+", one, one, site) if function is None else _call(ctx, function, [one, one], site)
    return stream(ctx, site, join(one, more), "accumulate")


def _repeat(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return stream(ctx, site, _at(args, 0), "repeat")


def _tee(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    count = _at(args, 1)
    several = count.value if isinstance(count, Const) and type(count.value) is int else 2
    return Tup((stream(ctx, site, reading.element(ctx, _at(args, 0)), "tee"),) * min(several, _MOST_FOLDED))


def _tuples(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`combinations(items, count)`: tuples of the elements."""
    one, count = reading.element(ctx, _at(args, 0)), _at(args, 1)
    if isinstance(count, Const) and type(count.value) is int and 0 < count.value <= _MOST_FOLDED:
        return stream(ctx, site, Tup((one,) * count.value), "tuples")
    return stream(ctx, site, stream(ctx, site, one, "tuple"), "tuples")


def _pairwise(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    one = reading.element(ctx, _at(args, 0))
    return stream(ctx, site, Tup((one, one)), "pairs")


def _groupby(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    one = reading.element(ctx, _at(args, 0))
    key = keywords.get("key", args[1] if len(args) > 1 else None)
    made = one if key is None else _call(ctx, key, [one], site)
    return stream(ctx, site, Tup((made, stream(ctx, site, one, "group"))), "groups")


def _number(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return NUMBER


def _numbers(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return stream(ctx, site, NUMBER, "numbers")


# ---------------------------------------------------------------------------------------------------- functools, operator


def _reduced(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    function, data = _at(args, 0), _at(args, 1)
    known = reading.items(ctx, data)
    if known is not None and len(known) <= _MOST_FOLDED:
        rest = [*args[2:3], *known]
        total = rest[0] if rest else UNKNOWN
        for one in rest[1:]:
            total = _call(ctx, function, [total, one], site)
        return total
    one = reading.element(ctx, data)
    start = args[2] if len(args) > 2 else one
    return join(start, _call(ctx, function, [start, one], site))


def _getter(name: str) -> Handler:
    """`operator.itemgetter("a", "b")`: a function that reads."""

    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        return Partial(Ext(name), tuple(args), tuple(sorted(keywords.items())))

    return handle


def _items_got(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    *keys, value = args
    found = [reading.item(ctx, value, key, site) for key in keys]
    return found[0] if len(found) == 1 else Tup(tuple(found))


def _attributes_got(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    *names, value = args
    found = []
    for name in names:
        one = value
        for part in str(name.value).split(".") if isinstance(name, Const) else ():
            one = reading.attribute(ctx, one, part, site)
        found.append(one)
    return found[0] if len(found) == 1 else Tup(tuple(found))


def _method_called(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    if len(args) < 2 or not isinstance(args[0], Const):
        return UNKNOWN
    _name, *given, value = args
    return _call(ctx, reading.attribute(ctx, value, str(args[0].value), site), given, site, keywords)


def _operator(sign: str, *, in_place: bool = False) -> Handler:
    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        return tensors.binary(ctx, sign, _at(args, 0), _at(args, 1), site, in_place=in_place)

    return handle


def _getitem(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return reading.item(ctx, _at(args, 0), _at(args, 1), site)


def _setitem(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    tensors.store_item(ctx, _at(args, 0), _at(args, 1), _at(args, 2), site)
    return NONE


# ---------------------------------------------------------------------------------------------------- containers


def _parsed(parse: Callable[[str], Any]) -> Handler:
    """What a literal text stands for."""

    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        text = _at(args, 0)
        if not isinstance(text, Const) or not isinstance(text.value, str) or len(text.value) > _MOST_PARSED:
            return NUMBER if isinstance(text, Const) else Term("unknown", site) if site is not None else UNKNOWN
        try:
            return of_python(ctx, parse(text.value), site)
        except (ValueError, SyntaxError, RecursionError):
            return NUMBER

    return handle


def of_python(ctx: Context, value: Any, site: Site | None, name: tuple[Any, ...] = ()) -> Value:
    """A value of Python as one of the analysis."""
    if isinstance(value, tuple):
        return Tup(tuple(of_python(ctx, one, site, (*name, at)) for at, one in enumerate(value)))
    if isinstance(value, (list, dict)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        kind = "dict" if isinstance(value, dict) else "list"
        fields = {("k", key): of_python(ctx, one, site, (*name, key)) for key, one in pairs}
        return ctx.new(site, kind, None, fields, tag=("literal", *name))
    return Const(value) if isinstance(value, (str, int, bool, bytes, type(None))) or value == value else NUMBER


def _pushed(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    for one in alternatives(_at(args, 0)):
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        if rec is not None and isinstance(one, Ref):
            containers.add(ctx, one, rec, _at(args, 1))
    return NONE


def _popped(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return reading.element(ctx, _at(args, 0))


def _push_and_pop(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    _pushed(ctx, args, keywords, site)
    return reading.element(ctx, _at(args, 0))


def _queue(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return ctx.new(site, "list", None, {}, tag="queue")


def _chain_map(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    fields: dict[Any, Value] = {}
    for one in reversed(args):
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        fields.update(rec.fields if rec is not None else {"*": reading.item(ctx, one, NUMBER, site)})
    return ctx.new(site, "dict", None, {**fields, ".maps": listed(ctx, site, args, "maps")}, tag="chain")


def _first(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return _at(args, 0)


def _reference(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`weakref.ref(object)`, which gives the object where it is called."""
    return Partial(Ext("functools.wraps.call"), tuple(args[:1]), ())


def _second(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return _at(args, 1)


def _mapping(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`collections.UserDict(...)`, which holds a dict as `data`: one object stands for both."""
    made = ctx.new(site, "dict", None, containers.contents(ctx, "dict", args, keywords), tag="mapping")
    ctx.put(made, ".data", made)
    return made


def _user_list(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    made = ctx.new(site, "list", None, containers.contents(ctx, "list", args[:1], {}), tag="user list")
    ctx.put(made, ".data", made)
    return made


def _copied(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return lift(lambda one: containers.copied(ctx, one, site), _at(args, 0))


def _norm(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`clip_grad_norm_(parameters, ...)`: a number where the first of them is."""
    one = reading.element(ctx, args[0] if args else keywords.get("parameters", UNKNOWN))
    return lift(lambda each: Tensor(each.device, 0) if isinstance(each, Tensor) else NUMBER, one)


def _batches(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`itertools.batched(items, count)`: tuples, of which the last one may be shorter."""
    return stream(
        ctx, site, ctx.new(site, "list", None, {"*": reading.element(ctx, _at(args, 0))}, tag="batch"), "batches"
    )


def _none(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return NONE


def _fields_of(ctx: Context, value: Value) -> list[tuple[str, Value]]:
    rec = ctx.rec(value)
    if rec is None:
        return []
    names = [name for name, _ in classes.field_names(ctx.analysis, rec.cls.cls)] if isinstance(rec.cls, Cls) else []
    return [(name, rec.fields["." + name]) for name in names if "." + name in rec.fields]


def _when_known(ctx: Context, name: str, value: Value, site: Site | None) -> Value:
    """A function of `dataclasses`, once a caller has said what the object is."""
    if ctx.mode == "summary" and is_open(value):
        return Term("call", Ext(f"dataclasses.{name}"), (value,), (), site)
    return Term("unknown", site) if site is not None else UNKNOWN


def _as_dict(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    found = _fields_of(ctx, _at(args, 0))
    if not found:
        return _when_known(ctx, "asdict", _at(args, 0), site)
    return ctx.new(site, "dict", None, {("k", name): value for name, value in found}, tag="asdict")


def _shallow(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`copy.copy(object)`; of `self`, a caller tells what it holds."""
    value = _at(args, 0)
    if ctx.mode == "summary" and ctx.analysis.class_of_receiver(value) is not None:
        return Term("call", Ext("copy.copy"), (value,), (), site)
    return lift(lambda one: containers.copied(ctx, one, site, deep=False), value)


def _as_tuple(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    found = _fields_of(ctx, _at(args, 0))
    return Tup(tuple(value for _, value in found)) if found else _when_known(ctx, "astuple", _at(args, 0), site)


# ---------------------------------------------------------------------------------------------------- what runs elsewhere


def _gathered(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`asyncio.gather`: a coroutine is what it gives (see `Evaluation.await_`)."""
    if any(isinstance(one, Star) for one in args):
        values = [reading.element(ctx, one.value) if isinstance(one, Star) else one for one in args]
        return ctx.new(site, "list", None, {"*": join(*values)}, tag="gathered")
    return listed(ctx, site, args, "gathered")


def _applied(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`asyncio.to_thread(function, *args)`, `torch.utils.checkpoint.checkpoint(function, *args)`."""
    own = {name: value for name, value in keywords.items() if name not in _OF_CHECKPOINT}
    return _call(ctx, _at(args, 0), args[1:], site, own)


_OF_CHECKPOINT = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})


def _started(name: str) -> Handler:
    """An object that calls something later: a thread, a process, a timer, a pool of workers, a variable of a context."""

    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        target = keywords.get("target", NONE)
        given, named = keywords.get("args", Tup(())), keywords.get("kwargs", NONE)
        parts: tuple[Value, ...] = (Star(given),)
        if named != NONE:
            parts = (*parts, DoubleStar(named))
        return ctx.new(site, "object", Ext(name), {".call": Partial(target, parts, ())}, tag=name)

    return handle


def _forked(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.jit.fork(function, *args)`."""
    made = _call(ctx, _at(args, 0), args[1:], site, keywords)
    return ctx.new(site, "object", Ext(_FUTURE), {"*": made}, tag="forked")


def _waited(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`concurrent.futures.wait(futures)`: those that are done, and the others."""
    one = reading.element(ctx, _at(args, 0))
    return Tup(tuple(ctx.new(site, "list", None, {"*": one}, tag=name) for name in ("done", "not done")))


def _spawned(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.multiprocessing.spawn(function, args=...)`: called with a rank first."""
    given = keywords.get("args", args[1] if len(args) > 1 else Tup(()))
    _call(ctx, args[0] if args else keywords.get("fn", UNKNOWN), [NUMBER, Star(given)], site)
    return NONE


def method(
    ctx: Context, ref: Ref, cls: str, name: str, args: Args, keywords: Keywords, site: Site | None
) -> Value | None:
    """`object.name(...)` of what this table made; None where nothing is known."""
    rec = ctx.heap[ref]
    if cls == _THREAD and name in ("start", "run"):
        _call(ctx, rec.fields[".call"], [], site)
        return NONE
    if cls == _POOL:
        return _of_pool(ctx, ref, name, args, keywords, site)
    if cls == "random.Random":
        handler = find("random." + name)
        return NUMBER if handler is None else handler(ctx, args, keywords, site)
    if cls == "torch.Generator" and name == "get_state":
        return Tensor(HOST, 1, site, "always")
    if cls == _SCALER and name in ("scale", "step"):
        given = _at(args, 0)
        return (
            given
            if name == "scale"
            else _call(ctx, reading.attribute(ctx, given, "step", site), args[1:], site, keywords)
        )
    if cls.startswith("torch.optim.") and name == "step":
        closure = args[0] if args else keywords.get("closure", NONE)
        return NONE if closure == NONE else _call(ctx, closure, [], site)
    if cls.startswith("torch.optim.") and name == "state_dict" and ".state" in rec.fields:
        held = {("k", key): rec.fields["." + key] for key in ("state", "param_groups")}
        return ctx.new(site, "dict", None, held, tag=name)
    if cls == _FUTURE and name in ("result", "get", "wait", "value"):
        return rec.fields["*"]  # type: ignore[no-any-return]
    if cls == _VARIABLE:
        if name == "set":
            ctx.put(ref, "*", _at(args, 0))
            return NONE
        return rec.fields.get("*", UNKNOWN) if name == "get" else None
    if cls == options.PARSER:
        return options.of_parser(ctx, ref, name, args, keywords, site)
    if cls == STACK:
        return _of_stack(ctx, ref, name, args, keywords, site)
    return None


def _of_stack(ctx: Context, ref: Ref, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value | None:
    """A method of an `ExitStack`, which keeps what it calls at its end (Lib/contextlib.py)."""
    from torchdevlint.infer.foreign import entered

    first = _at(args, 0)
    if name in ("close", "aclose"):
        unwind(ctx, ref)
    elif name in ("callback", "push_async_callback"):
        _add_exit(ctx, ref, Partial(first, tuple(args[1:]), tuple(sorted(keywords.items()))))
    elif name in ("enter_context", "enter_async_context"):
        made = entered(ctx, first, site)
        _add_exit(ctx, ref, Partial(Ext("contextlib.left"), (first,), ()))
        return made
    elif name in ("push", "push_async_exit"):
        is_function = isinstance(first, (Func, Bound, Partial))
        _add_exit(
            ctx, ref, Partial(first, (NONE,) * 3, ()) if is_function else Partial(Ext("contextlib.left"), (first,), ())
        )
    elif name == "pop_all":
        rec = ctx.heap[ref]
        ctx.heap[ref] = rec.without(_EXITS)
        return ctx.new(site, rec.kind, rec.cls, rec.fields, tag=name)
    return first


def _add_exit(ctx: Context, ref: Ref, called: Value) -> None:
    held = ctx.heap[ref].fields.get(_EXITS, Tup(()))
    known = [one for several in alternatives(held) if isinstance(several, Tup) for one in several.items]
    if called not in known:  # the second turn of a loop is as the first
        ctx.put(ref, _EXITS, Tup((*known, called)))


def unwind(ctx: Context, ref: Ref) -> None:
    """The end of an `ExitStack`: what it keeps is called, the last one first."""
    held = ctx.heap[ref].fields.get(_EXITS, Tup(()))
    for called in [one for several in alternatives(held) if isinstance(several, Tup) for one in several.items[::-1]]:
        _call(ctx, called, [], None)


def _closing(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`contextlib.closing(thing)`: a stack that gives the thing, and calls its `close`."""
    thing = _at(args, 0)
    close = reading.attribute(ctx, thing, "close", site)
    return ctx.new(site, "object", Ext(STACK), {ENTERED: thing, _EXITS: Tup((close,))}, tag="closing")


def _left(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    from torchdevlint.infer.foreign import left

    left(ctx, _at(args, 0), site)
    return NONE


def _decorated(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """A function that a `ContextDecorator` has decorated."""
    from torchdevlint.infer.foreign import entered

    manager, function, *given = args
    entered(ctx, manager, site)
    made = _call(ctx, function, given, site, keywords)
    _left(ctx, [manager], {}, site)
    return made


_THREAD, _POOL, _FUTURE = "threading.Thread", "concurrent.futures.Executor", "concurrent.futures.Future"
_SCALER = "torch.amp.GradScaler"
_VARIABLE, STACK = "contextvars.ContextVar", "contextlib.ExitStack"
ENTERED, _EXITS = ".@entered", ".@exits"  # what a stack gives where it is entered, and what it calls where it is left
_EAGER_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})


def _of_pool(ctx: Context, ref: Ref, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value | None:
    if name in _EAGER_MAPS and len(args) > 1:
        given = [reading.element(ctx, one) for one in args[1:]]
        made = _call(ctx, args[0], [Star(given[0])] if name == "starmap" else given, site)
        return stream(ctx, site, made, name)
    if name in ("submit", "apply_async") and args:
        given = args[1:]
        if name == "apply_async":
            given = [Star(keywords.get("args", _at(args, 1)))]
            keywords = {}
        made = _call(ctx, args[0], given, site, keywords)
        return ctx.new(site, "object", Ext(_FUTURE), {"*": made}, tag=name)
    if name == "apply" and args:
        return _call(ctx, args[0], [Star(keywords.get("args", _at(args, 1)))], site)
    return NONE if name in ("shutdown", "close", "join", "terminate") else None


def _completed(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return stream(ctx, site, reading.element(ctx, _at(args, 0)), "completed")


def _object(name: str, item: Value | None = None) -> Handler:
    """An object of a class; `item` is what an iteration over it gives."""

    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        held = keywords.get("default", item)
        return ctx.new(site, "object", Ext(name), {} if held is None else {"*": held}, tag=name)

    return handle


# ---------------------------------------------------------------------------------------------------- trees


def mapped(ctx: Context, function: Value, value: Value, site: Site | None, deep: int = _MOST_LEAVES) -> Value:
    """A function of each leaf of a tree of tuples, lists and dicts."""

    def one(part: Value) -> Value:
        rec = ctx.heap.get(part) if isinstance(part, Ref) else None
        if deep and isinstance(part, Tup):
            return Tup(tuple(mapped(ctx, function, item, site, deep - 1) for item in part.items))
        if deep and rec is not None and rec.kind in ("list", "dict"):
            fields = {
                key: mapped(ctx, function, content, site, deep - 1) if isinstance(key, tuple) or key == "*" else content
                for key, content in rec.fields.items()
            }
            return ctx.new(site, rec.kind, rec.cls, fields, tag=("mapped", part))
        return _call(ctx, function, [part], site)

    return lift(one, value)


def _tree_map(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    return mapped(ctx, _at(args, 0), _at(args, 1), site)


def _flattened(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    leaves = tensors.flattened(ctx, _values_of(ctx, _at(args, 0)))
    return Tup(
        (listed(ctx, site, leaves, "leaves"), ctx.new(site, "object", Ext(_TREE), {"*": _at(args, 0)}, tag="tree"))
    )


def _values_of(ctx: Context, value: Value, deep: int = _MOST_LEAVES) -> Value:
    """A tree with its dicts as tuples of their values."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if deep and isinstance(value, Tup):
        return Tup(tuple(_values_of(ctx, one, deep - 1) for one in value.items))
    if deep and rec is not None and rec.kind in ("list", "dict"):
        held = [one for key, one in rec.fields.items() if isinstance(key, tuple) or key == "*"]
        return Tup(tuple(_values_of(ctx, one, deep - 1) for one in held))
    return value


def _unflattened(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    leaves, spec = _at(args, 0), ctx.rec(_at(args, 1))
    if spec is None or "*" not in spec.fields:
        return UNKNOWN
    one = reading.element(ctx, leaves)
    return mapped(ctx, Partial(Ext("functools.wraps.call"), (one,), ()), spec.fields["*"], site)


_TREE = "torch.utils._pytree.TreeSpec"


def _pulled_back(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.func.vjp(function, *primals)`: a result, and a function that gives gradients where the primals are."""
    made = _call(ctx, _at(args, 0), args[1:], site)
    return Tup((made, Partial(Ext("torch.func.vjp.call"), (Tup(tuple(args[1:])),), ())))


def _pushed_forward(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.func.jvp(function, primals, tangents)`."""
    made = _call(ctx, _at(args, 0), [Star(_at(args, 1))], site)
    return Tup((made, made))


def _beside(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.autograd.functional.vjp(function, inputs, v)`: a result, and derivatives where the inputs are."""
    given = _at(args, 1)
    made = _call(ctx, _at(args, 0), list(given.items) if isinstance(given, Tup) else [given], site)
    return Tup((made, given))


def _linearized(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    made = _call(ctx, _at(args, 0), args[1:], site)
    return Tup((made, Partial(Ext("functools.wraps.call"), (made,), ())))


def _stacked_state(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.func.stack_module_state(models)`: parameters and buffers where the models are."""
    state = _call(ctx, reading.attribute(ctx, reading.element(ctx, _at(args, 0)), "state_dict", site), [], site)
    return Tup((state, state))


def _derived(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`jacobian(function, inputs)`: where the inputs are."""
    given = _at(args, 1)
    _call(ctx, _at(args, 0), list(given.items) if isinstance(given, Tup) else [given], site)
    return given


def _in_sequence(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`checkpoint_sequential(functions, segments, input)`."""
    value = _at(args, 2) if len(args) > 2 else keywords.get("input", UNKNOWN)
    for one in reading.items(ctx, _at(args, 0)) or [reading.element(ctx, _at(args, 0))]:
        value = _call(ctx, one, [value], site)
    return value


# ---------------------------------------------------------------------------------------------------- modules


def _made_of_weights(name: str) -> Handler:
    """`nn.Embedding.from_pretrained(embeddings)`: where those are."""

    def handle(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
        from torchdevlint.infer import modules

        made = modules.make(ctx, name, [], {}, site)
        place = devices.device_of(ctx, args[0] if args else keywords.get("embeddings", UNKNOWN))
        if place != HOST:
            devices.move_module(ctx, made, place)
        return made

    return handle


def _averaged(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    from torchdevlint.infer import modules

    copy = containers.copied(ctx, args[0] if args else keywords.get("model", UNKNOWN), site)
    place = keywords.get("device", args[1] if len(args) > 1 else NONE)
    if place != NONE:
        devices.move_module(ctx, copy, devices.as_device(ctx, place))
    return modules.make(ctx, modules.AVERAGED, [copy], {}, site)


def _updated(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`torch.optim.swa_utils.update_bn(loader, model, device=None)` calls the model with what the loader gives, moved where a device is given."""
    batch = reading.element(ctx, _at(args, 0))
    known = reading.items(ctx, batch)
    place = keywords.get("device", args[2] if len(args) > 2 else NONE)
    value = known[0] if known else batch
    moved = value if place == NONE else devices.move(ctx, value, devices.as_device(ctx, place), site)
    _call(ctx, _at(args, 1), [moved], site)
    return NONE


def _composed(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`transforms.Compose(steps)(image)`: one step behind the other."""
    value = _at(args, 1)
    for one in reading.items(ctx, _at(args, 0)) or [UNKNOWN]:
        value = _call(ctx, one, [value], site)
    return value


def _weights_read(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`safetensors.torch.load_file(path, device="cpu")`."""
    given = keywords.get("device", args[1] if len(args) > 1 else Const("cpu"))
    place = devices.as_device(ctx, given)
    made = Tensor(place, MANY, site if place == HOST else None, "always" if place == HOST else "")
    return ctx.new(site, "dict", None, {"*": made}, tag="weights")


def _fields(ctx: Context, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`dataclasses.fields(object)`: each has a name."""
    value = _at(args, 0)
    rec = ctx.rec(value)
    cls = value if isinstance(value, Cls) else rec.cls if rec is not None else None
    if not isinstance(cls, Cls):
        return _when_known(ctx, "fields", value, site)
    names = [name for name, _ in classes.field_names(ctx.analysis, cls.cls)]
    return Tup(tuple(ctx.new(site, "object", None, {".name": Const(name)}, tag=("field", name)) for name in names))


_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "concat": "+",
}
_WORKERS = (
    "concurrent.futures.ThreadPoolExecutor",
    "concurrent.futures.ProcessPoolExecutor",
    "concurrent.futures.thread.ThreadPoolExecutor",
    "multiprocessing.Pool",
    "multiprocessing.pool.Pool",
    "multiprocessing.pool.ThreadPool",
    "multiprocessing.dummy.Pool",
    "torch.multiprocessing.Pool",
)
_QUEUES = tuple(
    f"{home}.{name}"
    for home in ("queue", "asyncio", "multiprocessing", "torch.multiprocessing")
    for name in ("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue")
)
# Under these, modules are made without weights, or with parts of them: whoever fills them places them.
_EMPTY_WEIGHTS = (
    "accelerate.init_empty_weights",
    "accelerate.big_modeling.init_empty_weights",
    "transformers.integrations.accelerate.init_empty_weights",
    "deepspeed.zero.Init",
)
_PROCESSES = (
    "threading.Thread",
    "threading.Timer",
    "multiprocessing.Process",
    "torch.multiprocessing.Process",
)
_TREE_FLATTENS = tuple(f"torch.utils.{name}.tree_flatten" for name in ("_pytree", "_cxx_pytree"))
_TREE_UNFLATTENS = tuple(f"torch.utils.{name}.tree_unflatten" for name in ("_pytree", "_cxx_pytree"))
_TREE_MAPS = ("torch.utils._pytree.tree_map", "torch.utils._pytree.tree_map_only", "torch.utils._cxx_pytree.tree_map")

_SAMPLERS = (
    "torch.utils.data.distributed.DistributedSampler",
    *(
        f"torch.utils.data.{kind}Sampler"
        for kind in ("Random", "Sequential", "SubsetRandom", "WeightedRandom", "Distributed")
    ),
)
_QUANTIZATIONS = (
    "quantize_dynamic",
    "quantize",
    "prepare",
    "prepare_qat",
    "convert",
    "fuse_modules",
    "fuse_modules_qat",
)
_PRUNINGS = (
    *("l1_unstructured", "random_unstructured", "ln_structured", "random_structured", "custom_from_mask", "identity"),
    "remove",
)

_TABLE: dict[str, Handler] = {
    "builtins.pow": _operator("**"),
    "torchvision.transforms.Compose": _getter("torchvision.transforms.Compose.call"),
    "torchvision.transforms.Compose.call": _composed,
    "torchvision.transforms.ToTensor": lambda ctx, args, keywords, site: Ext(
        "torchvision.transforms.functional.to_tensor"
    ),
    "torchvision.transforms.PILToTensor": lambda ctx, args, keywords, site: Ext(
        "torchvision.transforms.functional.to_tensor"
    ),
    "safetensors.torch.load_file": _weights_read,
    "math.prod": lambda ctx, args, keywords, site: _reduced(ctx, [Ext("operator.mul"), *args[:1]], {}, site),
    **dict.fromkeys(("collections.UserDict", "weakref.WeakKeyDictionary", "weakref.WeakValueDictionary"), _mapping),
    "collections.UserList": _user_list,
    options.PARSER: _object(options.PARSER),
    "random.Random": _object("random.Random"),
    "random.SystemRandom": _object("random.Random"),
    "concurrent.futures.wait": _waited,
    "torch.jit.fork": _forked,
    "torch.jit.wait": _popped,
    "torch.jit.annotate": _second,
    **dict.fromkeys(("torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.GradScaler"), _object(_SCALER)),
    **{name: _object(name, NUMBER) for name in _SAMPLERS},
    "torch.utils.data.BatchSampler": _batches,
    **dict.fromkeys(
        (f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_norm", "get_total_norm")), _norm
    ),
    "torch.nn.utils.skip_init": lambda ctx, args, keywords, site: _call(ctx, _at(args, 0), args[1:], site, keywords),
    "torch.nn.utils.rnn.PackedSequence": _first,
    **dict.fromkeys((f"torch.nn.utils.prune.{name}" for name in _PRUNINGS), _first),
    **dict.fromkeys(
        (
            "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
            "torch.nn.utils.parametrize.register_parametrization",
            "torch.nn.utils.parametrize.remove_parametrizations",
            "torch.func.replace_all_batch_norm_modules_",
        ),
        _first,
    ),
    **dict.fromkeys((f"torch.{home}quantization.{n}" for home in ("ao.", "") for n in _QUANTIZATIONS), _copied),
    **{
        f"torch.nn.{name}.from_pretrained": _made_of_weights(f"torch.nn.{name}")
        for name in ("Embedding", "EmbeddingBag")
    },
    "torch.optim.swa_utils.AveragedModel": _averaged,
    "torch.optim.swa_utils.update_bn": _updated,
    **dict.fromkeys((f"torch.autograd.functional.{name}" for name in ("vjp", "jvp", "hvp", "vhp")), _beside),
    "torch.autograd.forward_ad.make_dual": _first,
    "torch.autograd.forward_ad.unpack_dual": lambda ctx, args, keywords, site: Tup((_at(args, 0), _at(args, 0))),
    "torch.func.functionalize": _first,
    "torch.func.linearize": _linearized,
    "torch.func.stack_module_state": _stacked_state,
    "itertools.chain": _joined,
    "itertools.chain.from_iterable": _chained,
    "itertools.zip_longest": _zipped,
    "itertools.product": _zipped,
    "itertools.starmap": _starmap,
    "itertools.accumulate": _accumulate,
    "itertools.repeat": _repeat,
    "itertools.cycle": _elements(0),
    "itertools.islice": _elements(0),
    "itertools.takewhile": _elements(1),
    "itertools.dropwhile": _elements(1),
    "itertools.filterfalse": _elements(1),
    "itertools.compress": _elements(0),
    "itertools.tee": _tee,
    "itertools.combinations": _tuples,
    "itertools.permutations": _tuples,
    "itertools.combinations_with_replacement": _tuples,
    "itertools.pairwise": _pairwise,
    "itertools.batched": _batches,
    "itertools.groupby": _groupby,
    "itertools.count": _numbers,
    "functools.reduce": _reduced,
    "functools.partialmethod": lambda ctx, args, keywords, site: Partial(
        Ext("functools.partialmethod.bound"), tuple(args), tuple(sorted(keywords.items()))
    ),
    "functools.cmp_to_key": _number,
    "operator.itemgetter": _getter("operator.itemgetter.call"),
    "operator.itemgetter.call": _items_got,
    "operator.attrgetter": _getter("operator.attrgetter.call"),
    "operator.attrgetter.call": _attributes_got,
    "operator.methodcaller": lambda ctx, args, keywords, site: Partial(
        Ext("operator.methodcaller.call"), tuple(args), tuple(sorted(keywords.items()))
    ),
    "operator.methodcaller.call": _method_called,
    "operator.getitem": _getitem,
    "operator.setitem": _setitem,
    "operator.neg": _first,
    **{f"operator.{name}": _operator(sign) for name, sign in _SIGNS.items()},
    **{f"operator.i{name.rstrip('_')}": _operator(sign, in_place=True) for name, sign in _SIGNS.items()},
    **{f"operator.{name}": _operator(name) for name in tensors.COMPARISONS.values()},
    "json.loads": _parsed(json.loads),
    "ast.literal_eval": _parsed(ast.literal_eval),
    "heapq.heappush": _pushed,
    "heapq.heappop": _popped,
    "heapq.heappushpop": _push_and_pop,
    "heapq.heapreplace": _push_and_pop,
    "heapq.heapify": _none,
    "heapq.nlargest": _elements(1),
    "heapq.nsmallest": _elements(1),
    "heapq.merge": _elements(0),
    "random.choice": _popped,
    "random.sample": _elements(0),
    "random.choices": _elements(0),
    "random.shuffle": _none,
    **dict.fromkeys(_QUEUES, _queue),
    "collections.ChainMap": _chain_map,
    "dataclasses.asdict": _as_dict,
    "dataclasses.astuple": _as_tuple,
    "contextlib.nullcontext": lambda ctx, args, keywords, site: args[0] if args else NONE,
    **dict.fromkeys(("contextlib.closing", "contextlib.aclosing"), _closing),
    **dict.fromkeys(("contextlib.ExitStack", "contextlib.AsyncExitStack"), _object(STACK)),
    "contextlib.left": _left,
    "contextlib.decorated": _decorated,
    "contextvars.ContextVar": _object(_VARIABLE),
    "asyncio.run": _first,
    "asyncio.create_task": _first,
    "asyncio.ensure_future": _first,
    "asyncio.wait_for": _first,
    "asyncio.shield": _first,
    "asyncio.gather": _gathered,
    "asyncio.to_thread": _applied,
    **dict.fromkeys(_PROCESSES, _started(_THREAD)),
    **dict.fromkeys(_WORKERS, _object(_POOL)),
    "concurrent.futures.as_completed": _completed,
    "torch.multiprocessing.spawn": _spawned,
    "torch.utils.checkpoint.checkpoint": _applied,
    **dict.fromkeys(_TREE_MAPS, _tree_map),
    "weakref.proxy": _first,
    "weakref.ref": _reference,
    "weakref.WeakMethod": _reference,
    "types.MappingProxyType": _first,
    "pickle.dumps": lambda ctx, args, keywords, site: stream(ctx, site, _at(args, 0), "pickled"),
    "pickle.loads": _popped,
    "copy.deepcopy": _copied,
    "dataclasses.fields": _fields,
    "torch.autograd.functional.jacobian": _derived,
    "torch.autograd.functional.hessian": _derived,
    "torch.func.vjp": _pulled_back,
    "torch.func.vjp.call": _first,
    "torch.func.jvp": _pushed_forward,
    "torch.utils.checkpoint.checkpoint_sequential": _in_sequence,
    **dict.fromkeys(_TREE_FLATTENS, _flattened),
    **dict.fromkeys(_TREE_UNFLATTENS, _unflattened),
    "typing.cast": _second,
    "typing.assert_type": _first,
    "copy.copy": _shallow,
    **dict.fromkeys(_EMPTY_WEIGHTS, lambda ctx, args, keywords, site: Device(NOWHERE)),
    "tqdm.tqdm": _first,
    "tqdm.auto.tqdm": _first,
    "tqdm.notebook.tqdm": _first,
    "tqdm.trange": _numbers,
}

__all__ = ["Bound", "Func", "Tensor", "find", "listed", "mapped", "method", "stream"]
