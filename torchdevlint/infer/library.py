"""Python's standard library as a table: what a function gives in terms of what it is given, by its dotted name."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from torchdevlint.infer import (
    claims,
    classes,
    containers,
    devices,
    engines,
    optimizers,
    options,
    pretrained,
    reading,
    tensors,
)
from torchdevlint.infer.joins import join, lift
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    ACCELERATOR,
    EXPECTED_ERROR,
    FALSE,
    HOST,
    MANY,
    NONE,
    NOWHERE,
    NUMBER,
    OTHER,
    SLICE,
    TRUE,
    UNKNOWN,
    Args,
    Bound,
    Cls,
    Const,
    Device,
    DoubleStar,
    Ext,
    Func,
    Keywords,
    OneOf,
    Partial,
    Ref,
    Site,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    as_key,
    is_open,
    unknown,
    waits,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_MOST_PARSED = 2000  # characters of a text that is read here
_MOST_FOLDED = 8  # items of a list whose reduction is followed one by one
_MOST_LEAVES = 4  # levels of containers that a function is mapped over


class Call(NamedTuple):
    """A call of a dotted name, and what a row of the table says of it: its arguments, what those hold, and what is made of them."""

    ctx: Context
    name: str
    args: Args
    keywords: Keywords
    site: Site | None

    def at(self, position: int, keyword: str = "", otherwise: Value = UNKNOWN) -> Value:
        """An argument; `*rest` may be any."""
        if any(isinstance(one, (Star, DoubleStar)) for one in self.args[: position + 1]):
            return UNKNOWN
        return self.args[position] if position < len(self.args) else self.keywords.get(keyword, otherwise)

    def each(self, position: int, keyword: str = "") -> Value:
        """What an argument gives when one iterates over it."""
        return reading.element(self.ctx, self.at(position, keyword))

    def elements(self) -> Args:
        """What each of the arguments gives."""
        return [reading.element(self.ctx, one) for one in self.args]

    def run(self, function: Value, /, *args: Value, **keywords: Value) -> Value:
        """What a function gives that is called here."""
        return self.ctx.call(function, args, keywords, self.site)

    def method(self, value: Value, name: str, /, *args: Value, **keywords: Value) -> Value:
        """What a method of a value gives."""
        return self.run(reading.attribute(self.ctx, value, name, self.site), *args, **keywords)

    def stream(self, one: Value) -> Value:
        """An iterator over such values."""
        return stream(self.ctx, self.site, one, self.name)

    def made(self, kind: Literal["list", "dict", "object"], fields: dict[Any, Value], cls: str = "") -> Value:
        """A new object."""
        return self.ctx.new(self.site, kind, Ext(cls) if cls else None, fields, tag=(self.name, *fields))

    def later(self, /, *args: Value, **keywords: Value) -> Value:
        """A function that does what the row of this name with `.call` says, with such arguments before its own."""
        return Partial(Ext(self.name + ".call"), args, tuple(sorted(keywords.items())))


Row = Callable[[Call], Value]
Handler = Callable[["Context", Args, Keywords, "Site | None"], Value]


def find(name: str) -> Handler | None:
    """What handles a call of a dotted name; None where this table knows nothing of it."""
    row = _TABLE.get(name)
    if row is None:
        return None
    return lambda ctx, args, keywords, site: row(Call(ctx, name, list(args), dict(keywords), site))


def names() -> Iterable[str]:
    """What this table knows."""
    return _TABLE.keys()


def stream(ctx: Context, site: Site | None, value: Value, tag: str) -> Value:
    """An iterator over such values."""
    return ctx.new(site, "generator", None, {"*": value}, tag=tag)


def listed(ctx: Context, site: Site | None, values: list[Value], tag: str) -> Value:
    """A list of known items."""
    return ctx.new(site, "list", None, {("k", at): one for at, one in enumerate(values)}, tag=tag)


def always(value: Value) -> Value:
    """A function that gives a value, whatever it is called with."""
    return Partial(Ext("functools.wraps.call"), (value,), ())


# ---------------------------------------------------------------------------------------------------- itertools, functools, operator


def _joined(call: Call) -> Value:
    """`itertools.chain(first, second)`: in order, where the items of all are known."""
    several = [reading.items(call.ctx, one) for one in call.args]
    known = [one for items in several for one in items or ()]
    if None not in several and 0 < len(known) <= _MOST_FOLDED:
        return listed(call.ctx, call.site, known, call.name)
    return call.stream(join(*call.elements()) if call.args else UNKNOWN)


def _accumulate(call: Call) -> Value:
    one, function = call.each(0), call.at(1, "func", NONE)
    more = tensors.binary(call.ctx, "+", one, one, call.site) if function == NONE else call.run(function, one, one)
    return call.stream(join(one, more))


def _count(value: Value, otherwise: int) -> int:
    """A small number that is written in the code."""
    if isinstance(value, Const) and type(value.value) is int and 0 < value.value <= _MOST_FOLDED:
        return value.value
    return otherwise


def _tuples(call: Call) -> Value:
    """`combinations(items, count)`: tuples of the elements."""
    count = _count(call.at(1, "r"), 0)
    return call.stream(Tup((call.each(0),) * count) if count else call.stream(call.each(0)))


def _reduced(call: Call) -> Value:
    function, data, start = call.at(0), call.at(1), call.at(2, "initial", NONE)
    known = reading.items(call.ctx, data)
    if known is not None and len(known) <= _MOST_FOLDED:
        total, *rest = [*([start] if start != NONE else []), *known] or [UNKNOWN]
        around = call.ctx.turns  # the functions that one turn makes are not those of another
        for at, each in enumerate(rest):
            call.ctx.turns = (*around, (call.site, at))
            total = call.run(function, total, each)
        call.ctx.turns = around
        return total
    if call.ctx.mode == "summary" and is_open(data):
        return _left_open(call)
    one = reading.element(call.ctx, data)
    first = one if start == NONE else start
    return join(first, call.run(function, first, one))


def _items_got(call: Call) -> Value:
    *keys, value = call.args or [UNKNOWN]
    found = [reading.item(call.ctx, value, key, call.site) for key in keys]
    return found[0] if len(found) == 1 else Tup(tuple(found))


def _attributes_got(call: Call) -> Value:
    *names, value = call.args or [UNKNOWN]
    found = []
    for name in names:
        one = value
        for part in str(name.value).split(".") if isinstance(name, Const) else ():
            one = reading.attribute(call.ctx, one, part, call.site)
        found.append(one)
    return found[0] if len(found) == 1 else Tup(tuple(found))


def _method_called(call: Call) -> Value:
    if len(call.args) < 2 or not isinstance(call.args[0], Const):
        return UNKNOWN
    name, *given, value = call.args
    return call.method(value, str(name.value), *given, **call.keywords)  # type: ignore[union-attr]


def _operator(sign: str, *, in_place: bool = False) -> Row:
    return lambda call: tensors.binary(call.ctx, sign, call.at(0), call.at(1), call.site, in_place=in_place)


def _setitem(call: Call) -> Value:
    tensors.store_item(call.ctx, call.at(0), call.at(1), call.at(2), call.site)
    return NONE


# ---------------------------------------------------------------------------------------------------- containers


def _parsed(parse: Callable[[str], Any]) -> Row:
    """What a literal text stands for."""

    def row(call: Call) -> Value:
        text = call.at(0)
        if not isinstance(text, Const) or not isinstance(text.value, str) or len(text.value) > _MOST_PARSED:
            return NUMBER if isinstance(text, Const) else unknown(call.site)
        try:
            return of_python(call.ctx, parse(text.value), call.site)
        except (ValueError, SyntaxError, RecursionError):
            return NUMBER

    return row


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


def _pushed(call: Call) -> Value:
    for one in alternatives(call.at(0)):
        if isinstance(one, Ref) and one in call.ctx.heap:
            call.ctx.add(one, "*", call.at(1))
    return NONE


def _push_and_pop(call: Call) -> Value:
    _pushed(call)
    return call.each(0)


def _chain_map(call: Call) -> Value:
    if _is_open(call):
        return _left_open(call)
    fields: dict[Any, Value] = {}
    for one in reversed(call.args):
        rec = call.ctx.heap.get(one) if isinstance(one, Ref) else None
        fields.update(rec.fields if rec is not None else {"*": reading.item(call.ctx, one, NUMBER, call.site)})
    maps = listed(call.ctx, call.site, call.args, call.name)
    if len(call.args) > 1:
        fields[".parents"] = _chain_map(call._replace(args=call.args[1:], name=f"{call.name}.parents"))
    return call.made("dict", {**fields, ".maps": maps})


def _user_made(kind: Literal["list", "dict"]) -> Row:
    """`collections.UserDict(...)`, which holds a dict as `data`: one object stands for both."""

    def row(call: Call) -> Value:
        made = call.made(kind, {})
        held = containers.contents(call.ctx, kind, call.args, call.keywords if kind == "dict" else {})
        for key, value in [*held.items(), (".data", made)]:
            call.ctx.put(made, key, value)
        return made

    return row


def _named(call: Call) -> Value:
    """`EasyDict({"device": "cuda"})`, a dict whose items are its attributes, also those of the dicts in it."""
    return _with_attributes(call, call.made("dict", containers.contents(call.ctx, "dict", call.args, call.keywords)))


def _with_attributes(call: Call, made: Value, deep: int = 3) -> Value:
    rec = call.ctx.rec(made)
    if rec is None or rec.kind != "dict" or ".__dict__" in rec.fields or not deep:
        return made
    call.ctx.put(made, ".__dict__", made)
    for content in rec.fields.values():
        if isinstance(content, Ref):
            _with_attributes(call, content, deep - 1)
    return made


def _norm(call: Call) -> Value:
    """`clip_grad_norm_(parameters, ...)`: a number where the first of them is."""
    return lift(lambda each: Tensor(each.device, 0) if isinstance(each, Tensor) else NUMBER, call.each(0, "parameters"))


def _fields_of(ctx: Context, value: Value) -> list[tuple[str, Value]]:
    rec = ctx.rec(value)
    if rec is None:
        return []
    names = [name for name, _ in classes.field_names(ctx.analysis, rec.cls.cls)] if isinstance(rec.cls, Cls) else []
    return [(name, rec.fields["." + name]) for name in names if "." + name in rec.fields]


def _when_known(call: Call) -> Value:
    """A function of `dataclasses`, once a caller has said what the object is."""
    value = call.at(0)
    if call.ctx.mode == "summary" and is_open(value):
        return Term("call", Ext(call.name), (value,), (), call.site)
    return unknown(call.site)


def _as_dict(call: Call) -> Value:
    found = _fields_of(call.ctx, call.at(0))
    return call.made("dict", {("k", name): value for name, value in found}) if found else _when_known(call)


def _as_tuple(call: Call) -> Value:
    found = _fields_of(call.ctx, call.at(0))
    return Tup(tuple(value for _, value in found)) if found else _when_known(call)


def _sorted(call: Call) -> Value:
    """`sorted(items, key=...)`: in their order, where the keys are known."""
    known = reading.turns(call.ctx, call.at(0))
    in_order = containers.in_order_of(call.ctx, known, call.keywords) if known else None
    if in_order is None:
        return call.made("list", {"*": call.each(0)})
    return call.made("list", {("k", at): one for at, one in enumerate(in_order)})


def _fields(call: Call) -> Value:
    """`dataclasses.fields(object)`: each has a name, and may be no argument of the constructor."""
    ctx, value = call.ctx, call.at(0)
    cls = _class_in(ctx, value)
    if not isinstance(cls, Cls):
        return _when_known(call)
    several = []
    for name, has_default in classes.field_names(ctx.analysis, cls.cls):
        written = reading.attribute(ctx, cls, name) if has_default else None
        is_left_out = isinstance(written, Partial) and dict(written.keywords).get("init") == FALSE
        told: dict[Any, Value] = {".name": Const(name), ".init": FALSE if is_left_out else TRUE}
        metadata = dict(written.keywords).get("metadata") if isinstance(written, Partial) else None
        told[".metadata"] = (
            call.ctx.new(call.site, "dict", None, {}, tag=("metadata", name)) if metadata is None else metadata
        )
        several.append(ctx.new(call.site, "object", None, told, tag=("field", name)))
    return Tup(tuple(several))


def _class_in(ctx: Context, value: Value) -> Value | None:
    """A class, or that of an object."""
    rec = ctx.rec(value)
    return value if isinstance(value, Cls) else rec.cls if rec is not None else None


def _is_dataclass(call: Call) -> Value:
    """`dataclasses.is_dataclass(object)`."""
    value = call.at(0)
    if isinstance(value, OneOf):
        return lift(lambda one: _is_dataclass(call._replace(args=[one])), value)
    cls = _class_in(call.ctx, value)
    if isinstance(cls, Cls):
        return Const(any(classes.is_dataclass(one) for one in classes.bases_of(call.ctx.analysis, cls.cls)))
    is_plain = isinstance(value, (Ref, Tensor, Tup, Const)) or value == NUMBER
    return FALSE if is_plain and cls is None else _when_known(call)


def _shallow(call: Call) -> Value:
    """`copy.copy(object)`; of `self`, a caller tells what it holds."""
    value = call.at(0)
    if call.ctx.mode == "summary" and call.ctx.analysis.class_of_receiver(value) is not None:
        return Term("call", Ext("copy.copy"), (value,), (), call.site)
    return lift(lambda one: containers.copied(call.ctx, one, call.site, deep=False), value)


# ---------------------------------------------------------------------------------------------------- what runs elsewhere


def _gathered(call: Call) -> Value:
    """`asyncio.gather`: a coroutine is what it gives (see `Evaluation.await_`)."""
    if any(isinstance(one, Star) for one in call.args):
        values = [reading.element(call.ctx, one.value) if isinstance(one, Star) else one for one in call.args]
        return call.made("list", {"*": join(*values)})
    return listed(call.ctx, call.site, call.args, call.name)


_OF_CHECKPOINT = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})


def _applied(call: Call) -> Value:
    """`asyncio.to_thread(function, *args)`, `torch.utils.checkpoint.checkpoint(function, *args)`."""
    own = {name: value for name, value in call.keywords.items() if name not in _OF_CHECKPOINT}
    return call.run(call.at(0), *call.args[1:], **own)


def _started(call: Call) -> Value:
    """An object that calls something later: a thread, a process, a timer."""
    named = call.keywords.get("kwargs", NONE)
    given: list[Value] = [Star(call.keywords.get("args", Tup(()))), *([DoubleStar(named)] if named != NONE else [])]
    target = Partial(call.keywords.get("target", NONE), tuple(given), ())
    return call.made("object", {".call": target}, _THREAD)


def _future(call: Call, result: Value) -> Value:
    return call.made("object", {"*": result}, _FUTURE)


def _spawned(call: Call) -> Value:
    """`torch.multiprocessing.spawn(function, args=...)`: called with a rank first."""
    call.run(call.at(0, "fn"), NUMBER, Star(call.at(1, "args", Tup(()))))
    return NONE


def method(
    ctx: Context, ref: Ref, cls: str, name: str, args: Args, keywords: Keywords, site: Site | None
) -> Value | None:
    """`object.name(...)` of what this table made; None where nothing is known."""
    rec = ctx.heap[ref]
    call = Call(ctx, name, args, keywords, site)
    if cls == _THREAD and name in ("start", "run"):
        call.run(rec.fields[".call"])
        ctx.started.append(rec.fields[".call"])
        return NONE
    if cls == _THREAD and name == "join":
        ctx.go_on()
        return NONE
    if cls == _POOL:
        return _of_pool(call)
    if cls == "torch.utils.hooks.RemovableHandle" and name in ("remove", "__exit__"):
        from torchdevlint.infer.modules import unhook

        unhook(ctx, rec)
        return NONE
    if cls == engines.ENGINE:
        return engines.method(call, ref)
    if cls == "random.Random":
        row = _TABLE.get("random." + name)
        return NUMBER if row is None else row(call)
    if cls == "torch.Generator" and name == "get_state":
        return Tensor(HOST, 1, site, "always")
    if cls == _SCALER and name in ("scale", "step"):
        given = call.at(0)
        return given if name == "scale" else call.method(given, "step", *args[1:], **keywords)
    if cls.startswith("torch.optim.") and name == "load_state_dict":
        optimizers.filled(ctx, ref, site)
        return NONE
    if cls.startswith("torch.optim.") and name == "step":
        optimizers.stepped(ctx, ref, site)
        closure = call.at(0, "closure", NONE)
        return NONE if closure == NONE else call.run(closure)
    if cls.startswith("torch.optim.") and name == "state_dict" and ".state" in rec.fields:
        held = {("k", key): rec.at("." + key) for key in ("state", "param_groups")}
        return ctx.new(site, "dict", None, held, tag=name)
    if cls == _FUTURE and name == "add_done_callback" and args:
        ctx.call(args[0], [ref], {}, site)
        return NONE
    if cls == _FUTURE and name in ("result", "get", "wait", "value"):
        return rec.at("*")
    if cls == _VARIABLE:
        if name == "set":
            token = call.made("object", {"*": rec.at("*")}, _TOKEN)
            ctx.put(ref, "*", call.at(0))
            return token
        if name == "reset":
            before = ctx.rec(call.at(0))
            ctx.put(ref, "*", before.at("*") if before is not None else UNKNOWN)
            return NONE
        return rec.at("*") if name == "get" else None
    if cls == options.PARSER:
        return options.of_parser(ctx, ref, name, args, keywords, site)
    return _of_stack(call, ref) if cls == STACK else None


def _of_stack(call: Call, ref: Ref) -> Value | None:
    """A method of an `ExitStack`, which keeps what it calls at its end (Lib/contextlib.py)."""
    from torchdevlint.infer.foreign import entered

    ctx, first = call.ctx, call.at(0)
    leave = Partial(Ext("contextlib.left"), (first,), ())
    match call.name:
        case "close" | "aclose":
            unwind(ctx, ref)
        case "callback" | "push_async_callback":
            _add_exit(ctx, ref, Partial(first, tuple(call.args[1:]), tuple(sorted(call.keywords.items()))))
        case "enter_context" | "enter_async_context":
            made = entered(ctx, first, call.site)
            _add_exit(ctx, ref, leave)
            inside = devices.of_context(ctx, first)
            if inside != NONE:
                ctx.put(ref, devices.DEFAULT_INSIDE, inside)
                ctx.default_device = devices.as_device(ctx, inside)  # to the end of this block
            return made
        case "push" | "push_async_exit":
            is_function = isinstance(first, (Func, Bound, Partial))
            _add_exit(ctx, ref, Partial(first, (NONE,) * 3, ()) if is_function else leave)
        case "pop_all":
            rec = ctx.heap[ref]
            ctx.heap[ref] = rec.without(_EXITS)
            return ctx.new(call.site, rec.kind, rec.cls, rec.fields, tag=call.name)
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
        ctx.call(called, [], {}, None)


def _closing(call: Call) -> Value:
    """`contextlib.closing(thing)`: a stack that gives the thing, and calls its `close`."""
    thing = call.at(0, "thing")
    close = reading.attribute(call.ctx, thing, "close", call.site)
    return call.made("object", {ENTERED: thing, _EXITS: Tup((close,))}, STACK)


def _left(call: Call) -> Value:
    from torchdevlint.infer.foreign import left

    left(call.ctx, call.at(0), call.site)
    return NONE


def _decorated(call: Call) -> Value:
    """A function that a `ContextDecorator` has decorated."""
    from torchdevlint.infer.foreign import entered

    entered(call.ctx, call.at(0), call.site)
    made = call.run(call.at(1), *call.args[2:], **call.keywords)
    _left(call)
    return made


def _is_open(call: Call) -> bool:
    return call.ctx.mode == "summary" and any(waits(one) and not isinstance(one, Ref) for one in call.args)


def _left_open(call: Call) -> Value:
    """The call, for a caller who knows what it is given."""
    left = Term("call", Ext(call.name), tuple(call.args), tuple(sorted(call.keywords.items())), call.site)
    call.ctx.emit(left)
    return left


def _others(call: Call) -> Value:
    """`case {"x": x, **others}`: a dict without some of its keys."""
    if _is_open(call):
        return _left_open(call)
    held, keys = containers.entries(call.ctx, call.at(0)), {as_key(one) for one in call.args[1:]}
    if held is None:
        return UNKNOWN
    return call.made(
        "dict", {key: one for key, one in held.items() if not (isinstance(key, tuple) and Const(key[1]) in keys)}
    )


def _merged(call: Call) -> Value:
    """`{**first, **second}`: what stands last holds."""
    if _is_open(call):
        return _left_open(call)
    fields: dict[Any, Value] = {}
    for one in call.args:
        held = containers.entries(call.ctx, one)
        if held is None:
            more = reading.item(call.ctx, one, SLICE)
            fields["*"] = join(fields["*"], more) if "*" in fields else more
        else:
            fields.update(held)
    return call.made("dict", fields)


MERGED, OTHERS = "builtins.dict.merged", "builtins.dict.others"  # a display of dicts, and what a pattern leaves of one
_THREAD, _POOL, _FUTURE = "threading.Thread", "concurrent.futures.Executor", "concurrent.futures.Future"
_SCALER = "torch.amp.GradScaler"
_VARIABLE, _TOKEN, STACK = "contextvars.ContextVar", "contextvars.Token", "contextlib.ExitStack"
ENTERED, _EXITS = ".@entered", ".@exits"  # what a stack gives where it is entered, and what it calls where it is left
_EAGER_MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})


def _of_pool(call: Call) -> Value | None:
    name, function = call.name, call.at(0)
    if name in _EAGER_MAPS and len(call.args) > 1:
        given = call.elements()[1:]
        return call.stream(call.run(function, Star(given[0])) if name == "starmap" else call.run(function, *given))
    if name in ("apply", "apply_async") and call.args:
        made = call.run(function, Star(call.at(1, "args", Tup(()))))
        return made if name == "apply" else _future(call, made)
    if name == "submit" and call.args:
        return _future(call, call.run(function, *call.args[1:], **call.keywords))
    return NONE if name in ("shutdown", "close", "join", "terminate") else None


def _object(name: str, item: Value | None = None) -> Row:
    """An object of a class; `item` is what an iteration over it gives."""

    def row(call: Call) -> Value:
        held = call.keywords.get("default", item)
        return call.made("object", {} if held is None else {"*": held}, name)

    return row


# ---------------------------------------------------------------------------------------------------- trees


def mapped(ctx: Context, function: Value, value: Value, site: Site | None, deep: int = _MOST_LEAVES) -> Value:
    """A function of each leaf of a tree of tuples, lists and dicts."""

    def one(part: Value) -> Value:
        rec = ctx.heap.get(part) if isinstance(part, Ref) else None
        if deep and isinstance(part, Tup):
            return Tup(tuple(mapped(ctx, function, item, site, deep - 1) for item in part.items))
        if deep and rec is not None and rec.kind in ("list", "dict"):
            changed = {key: mapped(ctx, function, item, site, deep - 1) for key, item in rec.items.items()}
            return ctx.new(site, rec.kind, rec.cls, {**rec.fields, **changed}, tag=("mapped", part))
        if deep and rec is not None and rec.is_named_tuple:
            items = {item: mapped(ctx, function, item, site, deep - 1) for item in rec.items.values()}
            fields = {key: items.get(item, item) for key, item in rec.fields.items()}
            return ctx.new(site, rec.kind, rec.cls, fields, tag=("mapped", part))
        return ctx.call(function, [part], {}, site)

    return lift(one, value)


def _mapped(position: int) -> Row:
    def row(call: Call) -> Value:
        tree = call.at(position + 1)
        if call.ctx.mode == "summary" and is_open(tree) and tree.waits:
            return _left_open(call)
        return mapped(call.ctx, call.at(position), tree, call.site)

    return row


def _flattened(call: Call) -> Value:
    leaves = tensors.flattened(call.ctx, _values_of(call.ctx, call.at(0)))
    return Tup((listed(call.ctx, call.site, leaves, call.name), call.made("object", {"*": call.at(0)}, _TREE)))


def _values_of(ctx: Context, value: Value, deep: int = _MOST_LEAVES) -> Value:
    """A tree with its dicts as tuples of their values."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if deep and isinstance(value, Tup):
        return Tup(tuple(_values_of(ctx, one, deep - 1) for one in value.items))
    if deep and rec is not None and rec.kind in ("list", "dict"):
        return Tup(tuple(_values_of(ctx, one, deep - 1) for one in rec.items.values()))
    return value


def _unflattened(call: Call) -> Value:
    spec = call.ctx.rec(call.at(1))
    if spec is None or "*" not in spec.fields:
        return UNKNOWN
    return mapped(call.ctx, always(call.each(0)), spec.fields["*"], call.site)


_TREE = "torch.utils._pytree.TreeSpec"


# ---------------------------------------------------------------------------------------------------- functions of functions


def _pulled_back(call: Call) -> Value:
    """`torch.func.vjp(function, *primals)`: a result, and a function that gives gradients where the primals are."""
    made = call.run(call.at(0), *call.args[1:])
    return Tup((made, call.later(Tup(tuple(call.args[1:])), made)))


def _pulled(call: Call) -> Value:
    """What that function gives: what it is given is where the result is."""
    claims.claim(call.ctx, "same", [Operand(call.at(1)), Operand(call.at(2), True)], call.site)
    return call.at(0)


def _pushed_forward(call: Call) -> Value:
    """`torch.func.jvp(function, primals, tangents)`."""
    made = call.run(call.at(0), Star(call.at(1)))
    return Tup((made, made))


def _of_inputs(call: Call) -> Value:
    given = call.at(1)
    return call.run(call.at(0), *(given.items if isinstance(given, Tup) else [given]))


def _derived(call: Call) -> Value:
    """`jacobian(function, inputs)`: where the inputs are."""
    _of_inputs(call)
    return call.at(1)


def _linearized(call: Call) -> Value:
    made = call.run(call.at(0), *call.args[1:])
    return Tup((made, always(made)))


def _in_sequence(call: Call) -> Value:
    """`checkpoint_sequential(functions, segments, input)`."""
    value = call.at(2, "input")
    for one in reading.items(call.ctx, call.at(0)) or [call.each(0)]:
        value = call.run(one, value)
    return value


def foreach(call: Call) -> Value:
    """`torch._foreach_add(tensors, others)`: a method of each tensor, with what stands beside it (aten/src/ATen/native/ForeachOpsKernels.cpp)."""
    name = call.name.removeprefix("torch._foreach_")
    given = call.args[:3] if name.startswith("addc") else call.args  # behind them, numbers
    known = [reading.items(call.ctx, one) for one in given]
    counts = {len(several) for several in known if several is not None}
    if len(counts) == 1 and max(counts) <= _MOST_FOLDED:
        rows = list(
            zip(*(several or [one] * max(counts) for one, several in zip(given, known, strict=True)), strict=True)
        )
    else:
        rows = [tuple(reading.element(call.ctx, one) if isinstance(one, (Ref, Term, Tup)) else one for one in given)]
    made = [call.method(row[0], name, *row[1:], **call.keywords) for row in rows if row]
    return NONE if name.endswith("_") else listed(call.ctx, call.site, made, call.name)


# ---------------------------------------------------------------------------------------------------- modules


def _made_of_weights(call: Call) -> Value:
    """`nn.Embedding.from_pretrained(embeddings)`: where those are."""
    from torchdevlint.infer import modules

    made = modules.make(call.ctx, call.name.removesuffix(".from_pretrained"), [], {}, call.site)
    place = devices.device_of(call.ctx, call.at(0, "embeddings"))
    if place != HOST:
        devices.move_module(call.ctx, made, place)
    return made


def _split_again(call: Call) -> Value:
    """`vector_to_parameters(vector, parameters)`: they are views of the vector then."""
    from torchdevlint.infer import modules

    modules.replace_data(call.ctx, None, call.each(1, "parameters"), call.at(0, "vec"))
    return NONE


def _masked(call: Call) -> Value:
    """`prune.custom_from_mask(module, name, mask)`: a mask of ones where the parameter is meets the given one."""
    name = call.at(1, "name")
    if isinstance(name, Const):
        weight = reading.attribute(call.ctx, call.at(0, "module"), str(name.value), call.site)
        tensors.binary(call.ctx, "*", weight, call.at(2, "mask"), call.site)
    return call.at(0, "module")


def _parametrized(call: Call) -> Value:
    """`register_parametrization(module, "weight", parametrization)`: a submodule, which is called with the parameter now and whenever that is read."""
    from torchdevlint.infer import modules

    module, name = call.at(0, "module"), call.at(1, "tensor_name")
    if isinstance(module, Ref) and isinstance(name, Const):
        weight = reading.attribute(call.ctx, module, str(name.value), call.site)
        call.run(call.at(2, "parametrization"), weight)
        modules.parametrize(call.ctx, module, str(name.value), call.at(2, "parametrization"), weight, call.site)
    return module


def _vector_to_parameters(call: Call) -> Value:
    """`torch.nn.utils.vector_to_parameters(vec, parameters)`: the parameters are views of the vector (torch/nn/utils/convert_parameters.py)."""
    from torchdevlint.infer import modules

    if _is_open(call):
        return _left_open(call)
    for one in alternatives(call.each(1, "parameters")):
        modules.replace_data(call.ctx, None, one, call.at(0, "vec"))
    return NONE


def _apply_of_module(call: Call) -> Value:
    """`nn.Module._apply`, which a class of the project calls in its own one: parameters, buffers and submodules are moved."""
    if call.ctx.mode == "summary" and (is_open(call.at(0)) or is_open(call.at(1))):
        return _left_open(call)
    mover = call.at(1)
    is_known = isinstance(mover, Partial) and mover.function == Ext(devices.MOVER)
    place = devices.as_device(call.ctx, mover.args[0]) if isinstance(mover, Partial) and is_known else NOWHERE
    for one in alternatives(call.at(0)):
        devices.move_module(call.ctx, one, place, is_raw=True)
    return call.at(0)


def _fully_sharded(call: Call) -> Value:
    """`fully_shard(module, mesh=mesh)` brings the parameters to the device of the mesh (torch/distributed/fsdp/_fully_shard/_fsdp_init.py,
    `_move_states_to_device`), which only who has made the mesh knows.
    """
    module = call.at(0, "module")
    if is_open(module):  # a caller knows it, and moves it before what is done with it
        call.ctx.emit(Term("call", Ext("torch.distributed.fsdp.fully_shard"), (module,), (), call.site))
    for one in alternatives(module):
        devices.move_module(call.ctx, one, NOWHERE)
    return module


def _restored(call: Call) -> Value:
    """`torch.serialization.default_restore_location(storage, location)`."""
    return devices.move(call.ctx, call.at(0, "storage"), devices.as_device(call.ctx, call.at(1, "location")), call.site)


def _averaged(call: Call) -> Value:
    from torchdevlint.infer import modules

    copy = containers.copied(call.ctx, call.at(0, "model"), call.site)
    place = call.at(1, "device", NONE)
    if place != NONE:
        devices.move_module(call.ctx, copy, devices.as_device(call.ctx, place))
    return modules.make(call.ctx, modules.AVERAGED, [copy], {}, call.site)


def _updated(call: Call) -> Value:
    """`torch.optim.swa_utils.update_bn(loader, model, device=None)` calls the model with what the loader gives, moved where a device is given."""
    batch, place = call.each(0), call.at(2, "device", NONE)
    known = reading.items(call.ctx, batch)
    value = known[0] if known else batch
    if place != NONE:
        value = devices.move(call.ctx, value, devices.as_device(call.ctx, place), call.site)
    call.run(call.at(1), value)
    return NONE


def _composed(call: Call) -> Value:
    """`transforms.Compose(steps)(image)`: one step behind the other."""
    value = call.at(1)
    for one in reading.items(call.ctx, call.at(0)) or [UNKNOWN]:
        value = call.run(one, value)
    return value


def _weights_read(call: Call) -> Value:
    """`safetensors.torch.load_file(path, device="cpu")`."""
    place = devices.as_device(call.ctx, call.at(1, "device", Const("cpu")))
    is_host = place == HOST
    return call.made("dict", {"*": Tensor(place, MANY, call.site if is_host else None, "always" if is_host else "")})


# ---------------------------------------------------------------------------------------------------- the table


def _rows(home: str, names: str, row: Row) -> dict[str, Row]:
    """The same row for several names of a module, or for dotted names without one."""
    return {f"{home}{name}": row for name in names.split()}


def _first(call: Call) -> Value:
    return call.at(0)


def _held(call: Call) -> Value:
    return call.each(0)


def _later(call: Call) -> Value:
    return call.later(*call.args, **call.keywords)


def _copied(call: Call) -> Value:
    """`copy.deepcopy(value)`. Of what only a caller knows, the copy is made there: what moves the one leaves the other where it is."""
    ctx, value = call.ctx, call.at(0)
    if ctx.mode == "summary" and isinstance(value, Term) and value.waits and value not in ctx.proven:
        left = Term("call", Ext(call.name), (value,), (), call.site)
        ctx.emit(left)
        return left
    return lift(lambda one: containers.copied(ctx, one, call.site), value)


def _each(position: int) -> Row:
    """An iterator over some of what an argument holds."""
    return lambda call: call.stream(call.each(position))


def _batches(call: Call) -> Value:
    """`itertools.batched(items, count)`: tuples, of which the last one may be shorter."""
    return call.stream(call.made("list", {"*": call.each(0)}))


def _groups(call: Call) -> Value:
    one, key = call.each(0), call.at(1, "key", NONE)
    return call.stream(Tup((one if key == NONE else call.run(key, one), call.made("list", {"*": one}))))


def _waited(call: Call) -> Value:
    """`concurrent.futures.wait(futures)`: those that are done, and the others."""
    several = [call.ctx.new(call.site, "list", None, {"*": call.each(0)}, tag=(call.name, at)) for at in range(2)]
    return Tup(tuple(several))


def _called(call: Call) -> Value:
    return call.run(call.at(0), *call.args[1:], **call.keywords)


_SIGNS = dict(
    pair.split()
    for pair in "add +,sub -,mul *,truediv /,floordiv //,mod %,pow **,matmul @,and_ &,or_ |,xor ^,concat +".split(",")
)

_TABLE: dict[str, Row] = {
    "itertools.chain": _joined,
    "itertools.chain.from_iterable": lambda call: call.stream(reading.element(call.ctx, call.each(0))),
    **_rows("itertools.", "zip_longest product", lambda call: call.stream(Tup(tuple(call.elements())))),
    "itertools.starmap": lambda call: call.stream(call.run(call.at(0), Star(call.each(1)))),
    "itertools.accumulate": _accumulate,
    "itertools.repeat": lambda call: call.stream(call.at(0)),
    **_rows("itertools.", "cycle islice compress", _each(0)),
    **_rows("itertools.", "takewhile dropwhile filterfalse", _each(1)),
    "itertools.tee": lambda call: Tup((call.stream(call.each(0)),) * _count(call.at(1, "n"), 2)),
    **_rows("itertools.", "combinations permutations combinations_with_replacement", _tuples),
    "itertools.pairwise": lambda call: call.stream(Tup((call.each(0),) * 2)),
    **_rows("", "itertools.batched torch.utils.data.BatchSampler", _batches),
    "itertools.groupby": _groups,
    **_rows("", "itertools.count tqdm.trange", lambda call: call.stream(NUMBER)),
    "functools.reduce": _reduced,
    "functools.partialmethod": lambda call: Partial(
        Ext("functools.partialmethod.bound"), tuple(call.args), tuple(sorted(call.keywords.items()))
    ),
    "functools.cmp_to_key": lambda call: NUMBER,
    "math.prod": lambda call: _reduced(call._replace(args=[Ext("operator.mul"), *call.args[:1]], keywords={})),
    "builtins.pow": _operator("**"),
    "builtins.sorted": _sorted,
    "builtins.staticmethod": lambda call: Partial(call.at(0), (), ()),
    classes.CLASS_METHOD: lambda call: Partial(Ext(classes.CLASS_METHOD), (call.at(0),), ()),
    classes.PROPERTY: lambda call: Partial(Ext(call.name), tuple(call.args), tuple(sorted(call.keywords.items()))),
    **_rows("operator.", "itemgetter attrgetter methodcaller", _later),
    "operator.itemgetter.call": _items_got,
    "operator.attrgetter.call": _attributes_got,
    "operator.methodcaller.call": _method_called,
    "operator.getitem": lambda call: reading.item(call.ctx, call.at(0), call.at(1), call.site),
    "operator.setitem": _setitem,
    "operator.neg": _first,
    **{f"operator.{name}": _operator(sign) for name, sign in _SIGNS.items()},
    **{f"operator.i{name.rstrip('_')}": _operator(sign, in_place=True) for name, sign in _SIGNS.items()},
    **{f"operator.{name}": _operator(name) for name in tensors.COMPARISONS.values()},
    "json.loads": _parsed(json.loads),
    "ast.literal_eval": _parsed(ast.literal_eval),
    "heapq.heappush": _pushed,
    **_rows("heapq.", "heappushpop heapreplace", _push_and_pop),
    **_rows("", "builtins.print heapq.heapify random.shuffle", lambda call: NONE),
    **_rows("heapq.", "nlargest nsmallest", _each(1)),
    **_rows("", "heapq.merge random.sample random.choices concurrent.futures.as_completed", _each(0)),
    **_rows("", "heapq.heappop random.choice torch.jit.wait pickle.loads", _held),
    **_rows("random.", "Random SystemRandom", _object("random.Random")),
    **{
        name: row
        for home in ("queue.", "asyncio.", "multiprocessing.", "torch.multiprocessing.")
        for name, row in _rows(
            home, "Queue LifoQueue PriorityQueue SimpleQueue", lambda call: call.made("list", {})
        ).items()
    },
    "collections.ChainMap": _chain_map,
    "collections.OrderedDict": lambda call: call.made(
        "dict", containers.contents(call.ctx, "dict", call.args, call.keywords)
    ),
    **_rows(
        "",
        "types.SimpleNamespace argparse.Namespace",
        lambda call: call.made("object", {f".{key}": value for key, value in call.keywords.items()}),
    ),
    **_rows(
        "",
        "easydict.EasyDict munch.Munch munch.munchify box.Box addict.Dict attrdict.AttrDict dotmap.DotMap yacs.config.CfgNode "
        "ml_collections.ConfigDict ml_collections.config_dict.ConfigDict omegaconf.OmegaConf.create omegaconf.DictConfig",
        _named,
    ),
    # Files in which the user says what the program is to do.
    **_rows(
        "",
        "yaml.safe_load yaml.load yaml.full_load toml.load tomllib.load tomli.load json.load omegaconf.OmegaConf.load "
        "omegaconf.OmegaConf.from_cli hydra.compose",
        lambda call: options.of_user(call.site),
    ),
    **_rows("io.", "BytesIO StringIO", _object("io.BytesIO")),
    **_rows("", "pytest.raises contextlib.suppress", lambda call: EXPECTED_ERROR),
    **_rows("", "collections.UserDict weakref.WeakKeyDictionary weakref.WeakValueDictionary", _user_made("dict")),
    "collections.UserList": _user_made("list"),
    "dataclasses.asdict": _as_dict,
    "dataclasses.astuple": _as_tuple,
    "dataclasses.fields": _fields,
    "dataclasses.is_dataclass": _is_dataclass,
    "contextlib.nullcontext": lambda call: call.at(0, "enter_result", NONE),
    **_rows("contextlib.", "ExitStack AsyncExitStack", _object(STACK)),
    **_rows("contextlib.", "closing aclosing", _closing),
    "contextlib.left": _left,
    "contextlib.decorated": _decorated,
    MERGED: _merged,
    OTHERS: _others,
    options.PARSER: _object(options.PARSER),
    "contextvars.ContextVar": _object(_VARIABLE),
    **_rows("asyncio.", "run create_task ensure_future wait_for shield", _first),  # a coroutine is what it gives
    "asyncio.gather": _gathered,
    **_rows("", "asyncio.to_thread torch.utils.checkpoint.checkpoint", _applied),
    **_rows("", "threading.Thread threading.Timer multiprocessing.Process torch.multiprocessing.Process", _started),
    **_rows("concurrent.futures.", "ThreadPoolExecutor ProcessPoolExecutor thread.ThreadPoolExecutor", _object(_POOL)),
    **_rows("multiprocessing.", "Pool pool.Pool pool.ThreadPool dummy.Pool", _object(_POOL)),
    "torch.multiprocessing.Pool": _object(_POOL),
    "concurrent.futures.wait": _waited,
    **_rows("ignite.engine.", "Engine engine.Engine", engines.make),
    engines.DECORATED: engines.decorated,
    "torch.jit.fork": lambda call: _future(call, _called(call)),
    "torch.multiprocessing.spawn": _spawned,
    **_rows("weakref.", "ref WeakMethod", lambda call: always(call.at(0))),
    "pickle.dumps": lambda call: call.stream(call.at(0)),
    "copy.deepcopy": _copied,
    "copy.copy": _shallow,
    **_rows("", "weakref.proxy types.MappingProxyType typing.assert_type", _first),
    **_rows("tqdm.", "tqdm auto.tqdm notebook.tqdm", _first),
    **_rows("", "typing.cast torch.jit.annotate", lambda call: call.at(1)),
    # Under these, modules are made without weights, or with parts of them: whoever fills them places them.
    **_rows(
        "",
        "accelerate.init_empty_weights accelerate.big_modeling.init_empty_weights deepspeed.zero.Init "
        "transformers.integrations.accelerate.init_empty_weights",
        lambda call: Device(NOWHERE),
    ),
    "torchvision.transforms.Compose": _later,
    "torchvision.transforms.Compose.call": _composed,
    **_rows(
        "torchvision.transforms.",
        "ToTensor PILToTensor",
        lambda call: Ext("torchvision.transforms.functional.to_tensor"),
    ),
    "safetensors.torch.load_file": _weights_read,
    **_rows("torch.", "amp.GradScaler cuda.amp.GradScaler GradScaler", _object(_SCALER)),
    **{
        name: _object(name, NUMBER)
        for name in _rows(
            "torch.utils.data.",
            "RandomSampler SequentialSampler SubsetRandomSampler WeightedRandomSampler DistributedSampler "
            "distributed.DistributedSampler",
            _first,
        )
    },
    # The accelerator that is current, as a device or as its number.
    **_rows(
        "torch.",
        "cuda.current_device accelerator.current_accelerator accelerator.current_device_index",
        lambda call: Device(ACCELERATOR),
    ),
    **_rows("torch.", "no_grad enable_grad inference_mode set_grad_enabled", lambda call: OTHER),
    **_rows(
        "torch.",
        "is_floating_point is_complex is_grad_enabled numel finfo iinfo Size get_default_dtype initial_seed seed typename get_num_threads",
        lambda call: NUMBER,
    ),
    # A tensor since PyTorch 0.4, where its data is.
    **_rows("torch.autograd.", "Variable variable.Variable", lambda call: call.at(0, "data")),
    **_rows(
        "torch.",
        "jit.script compile jit.trace fx.symbolic_trace",
        lambda call: call.at(0, otherwise=Ext("functools.wraps")),
    ),
    "torch.nn.utils.parameters_to_vector": _held,
    # What changes a module and gives it back (torch/nn/utils).
    **_rows(
        "torch.nn.utils.",
        "weight_norm spectral_norm remove_weight_norm remove_spectral_norm parametrizations.weight_norm "
        "parametrizations.spectral_norm parametrizations.orthogonal fuse_conv_bn_eval",
        _first,
    ),
    **_rows("torch.nn.utils.", "clip_grad_norm_ clip_grad_norm get_total_norm", _norm),
    "torch.nn.utils.vector_to_parameters": _split_again,
    "torch.nn.utils.skip_init": _called,
    "torch.nn.utils.rnn.PackedSequence": _first,
    **_rows(
        "torch.nn.utils.prune.",
        "l1_unstructured random_unstructured ln_structured random_structured identity remove",
        _first,
    ),
    "torch.nn.utils.prune.custom_from_mask": _masked,
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm": _first,
    "torch.nn.utils.parametrize.register_parametrization": _parametrized,
    "torch.nn.utils.parametrize.remove_parametrizations": _first,
    **_rows("torch.", "func.replace_all_batch_norm_modules_ func.functionalize autograd.forward_ad.make_dual", _first),
    **{
        name: row
        for home in ("torch.quantization.", "torch.ao.quantization.")
        for name, row in _rows(
            home, "quantize_dynamic quantize prepare prepare_qat convert fuse_modules fuse_modules_qat", _copied
        ).items()
    },
    **_rows("torch.nn.", "Embedding.from_pretrained EmbeddingBag.from_pretrained", _made_of_weights),
    **pretrained.ROWS,
    "torch.optim.swa_utils.AveragedModel": _averaged,
    "torch.serialization.default_restore_location": _restored,
    "torch.distributed.fsdp.fully_shard": _fully_sharded,
    "torch.distributed._composable.fsdp.fully_shard": _fully_sharded,
    "torch.nn.Module._apply": _apply_of_module,
    devices.MOVER: lambda call: devices.move(call.ctx, call.at(1), devices.as_device(call.ctx, call.at(0)), None),
    **_rows("torch.nn.utils.", "vector_to_parameters convert_parameters.vector_to_parameters", _vector_to_parameters),
    "torch.optim.swa_utils.update_bn": _updated,
    **_rows("torch.autograd.functional.", "vjp jvp hvp vhp", lambda call: Tup((_of_inputs(call), call.at(1)))),
    **_rows("torch.autograd.functional.", "jacobian hessian", _derived),
    "torch.autograd.forward_ad.unpack_dual": lambda call: Tup((call.at(0), call.at(0))),
    "torch.func.linearize": _linearized,
    # Parameters and buffers, where the models are.
    "torch.func.stack_module_state": lambda call: Tup((call.method(call.each(0), "state_dict"),) * 2),
    "torch.func.vjp": _pulled_back,
    "torch.func.vjp.call": _pulled,
    "torch.func.jvp": _pushed_forward,
    "torch.utils.checkpoint.checkpoint_sequential": _in_sequence,
    **_rows("torch.utils.", "_pytree.tree_map _cxx_pytree.tree_map", _mapped(0)),
    **_rows("torch.utils.", "_pytree.tree_map_only _cxx_pytree.tree_map_only", _mapped(1)),
    **_rows("torch.utils.", "_pytree.tree_flatten _cxx_pytree.tree_flatten", _flattened),
    **_rows("torch.utils.", "_pytree.tree_unflatten _cxx_pytree.tree_unflatten", _unflattened),
}
