"""Python's own functions and library."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import annotated, conditions, containers, devices, modules, paths, reading, tensors
from torchdevlint.infer import library as library_table
from torchdevlint.infer.classes import EXCEPTIONS, field_names, special
from torchdevlint.infer.joins import MOST_ALTERNATIVES, join, lift, one_of
from torchdevlint.infer.options import is_option
from torchdevlint.infer.values import (
    CLOCK,
    FALSE,
    KEPT_AS,
    NONE,
    NOTHING,
    NUMBER,
    OTHER,
    TRUE,
    UNKNOWN,
    Bound,
    Cls,
    Const,
    Device,
    Ext,
    Func,
    OneOf,
    Partial,
    Ref,
    Site,
    SliceValue,
    Star,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    alternatives,
    as_key,
    is_open,
    options_of,
    text_of,
    unknown,
    waits,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_TO_NUMBER = frozenset(
    "len int float str bool repr abs round range id hash any all callable issubclass ord chr divmod format input".split()
)
_SPECIAL = frozenset("abs bool float format int len repr reversed round str".split())
_CLOCKS = ("time", "datetime")
_SEQUENCES = frozenset({"list", "tuple", "set", "frozenset", "iter", "reversed"})
_MOST_TURNS = 8  # items that are told apart
_PLAIN_ROOTS = frozenset(
    "math statistics random os time json re sys logging pathlib string datetime argparse glob shutil warnings collections typing".split()
)


def builtin(ctx: Context, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    """A call of a builtin."""
    first = args[0] if args else UNKNOWN
    made = special(ctx, first, f"__{name}__", args[1:], site) if name in _SPECIAL else None
    if made is not None:
        return made
    if name == "isinstance" and len(args) > 1:
        return conditions.is_instance(ctx, first, args[1])
    if name == "hasattr" and len(args) > 1:
        from torchdevlint.infer.foreign import has_attribute

        return lift(lambda asked: lift(lambda one: has_attribute(ctx, one, asked), first), args[1])
    if name in ("str", "repr", "hash") and args:  # a hash differs where its text does
        return lift(lambda one: one if isinstance(one, Device) else text_of(one), first)  # which is as good as its name
    if name == "open" and args:
        made = unknown(site)
        ctx.put(made, paths.PATH, first)
        return made
    if name == "len" and isinstance(first, Const) and isinstance(first.value, str):
        return Const(len(first.value))
    is_settled = isinstance(first, Tup) or not (ctx.in_loop or ctx.is_replaying)
    if name == "len" and is_settled and (known := reading.turns(ctx, first)) is not None:
        return Const(len(known))
    if name == "len" and is_settled and (ways := reading.ways(ctx, first)) is not None:
        return one_of([(guards, Const(len(held))) for guards, held in ways])
    if name == "bool" and args:
        told = conditions.known_outcome(ctx, first)
        return (first if isinstance(first, (Term, OneOf)) else NUMBER) if told is None else Const(told)
    if name in ("any", "all"):
        asked = [conditions.known_outcome(ctx, one) for one in reading.items(ctx, first) or [UNKNOWN]]
        ends = name == "any"
        return Const(ends) if ends in asked else NUMBER if None in asked else Const(not ends)
    if name == "int" and len(args) == 1 and isinstance(first, Const) and str(first.value).isdecimal():
        return Const(int(first.value))
    if name in annotated.AS_NUMBER and len(args) == 1 and is_option(first):
        return Term("attribute", first, annotated.AS_NUMBER[name])  # two tests of it are tests of one number
    if name == "slice" and 0 < len(args) < 4:
        bounds = [None if one == NONE else one if isinstance(one, Const) else UNKNOWN for one in args]
        return SliceValue(*bounds) if len(args) > 1 else SliceValue(None, bounds[0])
    if name == "range" and (counted := _counted(args)) is not None:
        return counted
    if name in _TO_NUMBER:
        return first if name in ("abs", "round") and isinstance(first, (Tensor, Term)) else NUMBER
    is_copy = name in ("list", "dict") and is_open(first)
    is_sentinel = name == "iter" and len(args) == 2
    if ctx.mode == "summary" and (is_copy or (is_sentinel and any(map(is_open, args)))):
        copy = Term("call", Ext(f"builtins.{name}"), tuple(args), tuple(sorted(keywords.items())), site)
        ctx.emit(copy)  # a caller tells what it is a copy of
        return copy
    if is_sentinel:  # until what comes is the second
        given = [(way, one) for way, one in options_of(ctx.call(first, [], {}, site)) if one != args[1]]
        return library_table.stream(ctx, site, one_of(given), "iter")
    if name in _SEQUENCES:
        return _sequence(ctx, name, args, site)
    if name == "globals":
        return Bound(ctx.unit.globals if site is None else site.unit.globals, "__dict__")
    if name in ("vars", "dir") and args:
        return Bound(first, "__dict__")
    if name.endswith(EXCEPTIONS):
        fields: dict[Any, Value] = {".args": Tup(tuple(args)), ".value": first}
        return ctx.new(site, "object", Ext("builtins." + name), fields, tag=name)
    if name in ("dict", "OrderedDict"):
        return ctx.new(site, "dict", None, containers.contents(ctx, "dict", args, keywords), tag="dict")
    if name == "next":
        return _next(ctx, first, site, args[1] if len(args) > 1 else None)
    if name == "enumerate":
        fields = {"*": Tup((NUMBER, reading.element(ctx, first)))}
        known = reading.items(ctx, first) if not keywords and len(args) == 1 else None
        if known is not None and 0 < len(known) <= _MOST_TURNS:
            fields[reading.ITEMS] = Tup(tuple(Tup((Const(at), one)) for at, one in enumerate(known)))
        return ctx.new(site, "generator", None, fields, tag=name)
    if name == "zip":
        return _zip(ctx, args, site)
    if name == "filter" and len(args) > 1:
        kept = [one for one in alternatives(reading.element(ctx, args[1])) if one != NONE]
        return ctx.new(site, "generator", None, {"*": join(*kept) if kept else UNKNOWN}, tag=name)
    if name == "map" and len(args) > 1:
        columns = [column for one in args[1:] if (column := reading.items(ctx, one)) is not None]
        shortest = min(map(len, columns), default=0)
        if 0 < shortest <= MOST_ALTERNATIVES and len(columns) == len(args) - 1:
            turns = [_turn(ctx, first, columns, at, site) for at in range(shortest)]
            return library_table.listed(ctx, site, turns, name)
        made = ctx.call(first, [reading.element(ctx, one) for one in args[1:]], {}, site)
        return ctx.new(site, "generator", None, {"*": made}, tag=name)
    if name in ("max", "min"):
        several = reading.turns(ctx, first) if len(args) == 1 else list(args)
        if several and not ctx.in_loop and not ctx.is_replaying:
            by = {**keywords, "reverse": TRUE if name == "max" else FALSE}
            in_order = containers.in_order_of(ctx, several, by)
            if in_order is not None:
                return in_order[0]
        return reading.element(ctx, first) if len(args) == 1 or "key" in keywords else join(*args)
    if name == "sum":
        return _sum(ctx, first, args[1] if len(args) > 1 else None, site)
    if name == "getattr" and len(args) > 1:
        return _got(ctx, first, args[1], args[2] if len(args) > 2 else None, site)
    if name == "setattr" and len(args) > 2:
        modules.store_named(ctx, first, args[1], args[2])
        return NONE
    if name == "delattr" and len(args) > 1:
        modules.store_named(ctx, first, args[1], NOTHING, by="del")
        return NONE
    if name == "dict.fromkeys" and args:
        keys = reading.items(ctx, first)
        keys = None if keys is None else [as_key(one) for one in keys]
        value = args[1] if len(args) > 1 else NONE
        named = keys is not None and all(isinstance(one, Const) for one in keys)
        filled: dict[Any, Value] = {("k", one.value): value for one in keys or () if isinstance(one, Const)}
        return ctx.new(site, "dict", None, filled if named else {"*": value}, tag=name)
    if name == "type":
        return lift(lambda one: class_of(ctx, one), first) if len(args) == 1 else OTHER
    return OTHER if name[:1].isupper() and hasattr(builtins, name) else unknown(site)


def _counted(args: list[Value]) -> Value | None:
    """The numbers of a short `range`, whose bounds are known."""
    bounds = [one.value for one in args if isinstance(one, Const) and isinstance(one.value, int)]
    if len(bounds) != len(args) or not 0 < len(bounds) < 4 or bounds[2:] == [0]:
        return None
    counted = range(*bounds)
    return Tup(tuple(map(Const, counted))) if 0 < len(counted) <= reading.MOST_NUMBERED else None


def _turn(ctx: Context, function: Value, columns: list[list[Value]], at: int, site: Site | None) -> Value:
    """One item of `map(function, ...)`: what it makes is its own."""
    around, ctx.turns = ctx.turns, (*ctx.turns, (site, at))
    made = ctx.call(function, [one[at] for one in columns], {}, site)
    ctx.turns = around
    return made


def _got(ctx: Context, value: Value, name: Value, default: Value | None, site: Site | None) -> Value:
    """`getattr(value, name, default)`: of a name of which a part is known, any attribute that it fits."""
    given = () if default is None else (default,)
    if ctx.mode == "summary" and waits(name):
        return Term("got", value, name, *given)
    names = [one for one in alternatives(name) if isinstance(one, Const)]
    # Of several, those that are not there are not asked for.
    missing = NOTHING if default is None and len(names) > 1 else default
    found = [_attribute_or(ctx, value, str(one.value), missing, site) for one in names]
    for text in alternatives(name):
        if isinstance(text, Text) and ctx.mode == "summary" and waits(value):
            return Term("got", value, name, *given)
        if isinstance(text, Text):
            found += [one for each in alternatives(value) for one in reading.attributes_like(ctx, each, text)]
        elif not isinstance(text, Const):
            several = [reading.members(ctx, each) for each in alternatives(value)]
            found += [reading.chosen(text, one) for one in several if one]
    return join(*found) if found else unknown(site)


def _attribute_or(ctx: Context, value: Value, name: str, default: Value | None, site: Site | None) -> Value:
    """An attribute, or the default where it is certain that there is none."""
    found = reading.attribute(ctx, value, name, site)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    is_plain = rec is not None and rec.kind == "object" and (rec.cls is None or isinstance(rec.cls, Cls))
    return default if default is not None and is_plain and found == Bound(value, name) else found


def class_of(ctx: Context, value: Value) -> Value:
    """`type(value)`, which makes another one of its kind where it is called."""
    if is_open(value) and ctx.mode == "summary":
        return Term("type", value)
    if isinstance(value, Tup):
        return Ext("builtins.tuple")
    if isinstance(value, Const):
        return Ext(f"builtins.{type(value.value).__name__}")
    if isinstance(value, Tensor) and not value.follows:  # that of a parameter is another one
        return Ext("torch.Tensor")
    rec = ctx.rec(value) if isinstance(value, Ref) else None
    if rec is None:
        return OTHER
    if rec.cls is not None:
        return rec.cls
    if rec.kind in ("list", "dict"):
        kept_as = rec.fields.get(KEPT_AS, Const(rec.kind))
        named = str(kept_as.value) if isinstance(kept_as, Const) else rec.kind
        return Ext("collections.deque" if named == "deque" else f"builtins.{named}")
    names = Tup(tuple(map(Const, rec.attributes)))
    return Partial(Ext("collections.namedtuple.make"), (), (("@names", names),)) if rec.is_named_tuple else OTHER


def _sequence(ctx: Context, name: str, args: list[Value], site: Site | None) -> Value:
    kind: dict[Any, Value] = {KEPT_AS: Const("set")} if name in ("set", "frozenset") else {}
    if not args:
        return Tup(()) if name == "tuple" else ctx.new(site, "list", None, kind, tag=name)
    first = args[0]
    known = reading.turns(ctx, first)
    if known is not None:
        if name == "tuple":
            return Tup(tuple(known))
        ordered = known[::-1] if name == "reversed" else known
        return ctx.new(site, "list", None, {**kind, **{("k", at): one for at, one in enumerate(ordered)}}, tag=name)
    if is_open(first) and name in ("tuple", "list", "iter"):
        return first
    several = reading.ways(ctx, first) if name == "tuple" else None
    if several is not None:
        return one_of([(guards, Tup(tuple(held))) for guards, held in several])
    return ctx.new(site, "list", None, {**kind, "*": reading.element(ctx, first)}, tag=name)


def _zip(ctx: Context, args: list[Value], site: Site | None) -> Value:
    """`zip(a, b)`; `zip(*rows)` gives the columns of rows of one form."""
    if len(args) == 1 and isinstance(args[0], Star):
        row = UNKNOWN if is_open(args[0].value) else reading.element(ctx, args[0].value)
        columns = _columns(ctx, row)
        if columns is None:
            is_left = ctx.mode == "summary" and any(map(is_open, (args[0].value, *alternatives(row))))
            return Term("call", Ext("builtins.zip"), tuple(args), (), site) if is_left else unknown(site)
        made = [library_table.stream(ctx, site, one, f"column {at}") for at, one in enumerate(columns)]
        return library_table.listed(ctx, site, made, "columns")
    known = [reading.items(ctx, one) for one in args]
    shortest = min((len(one) for one in known if one is not None), default=0)
    if 0 < shortest <= _MOST_TURNS and None not in known:
        rows: list[Value] = [Tup(tuple(one[at] for one in known if one is not None)) for at in range(shortest)]
        return library_table.listed(ctx, site, rows, "zip")
    parts = tuple(reading.element(ctx, one) for one in args if not isinstance(one, Star))
    return library_table.stream(ctx, site, Tup(parts), "zip")


def _columns(ctx: Context, row: Value) -> list[Value] | None:
    """The items of a row that may be one of several of the same length, each as one of several; None where they are not known."""
    several = [(guards, reading.items(ctx, one)) for guards, one in options_of(row) if one != NOTHING]
    rows = [(guards, one) for guards, one in several if one is not None]
    if not rows or len(rows) < len(several) or len({len(one) for _, one in rows}) > 1:
        return None
    return [one_of([(guards, one[at]) for guards, one in rows]) for at in range(len(rows[0][1]))]


def _sum(ctx: Context, values: Value, start: Value | None, site: Site | None) -> Value:
    """`sum(values)` adds them one to the other."""
    known = reading.items(ctx, values)
    if known is None or len(known) > _MOST_TURNS:
        inner = reading.element(ctx, values)
        return tensors.binary(ctx, "+", inner, start, site) if start is not None else inner
    rest = known if start is None else [start, *known]
    total = rest[0] if rest else NUMBER
    for one in rest[1:]:
        total = tensors.binary(ctx, "+", total, one, site)
    return total


def _next(ctx: Context, first: Value, site: Site | None, default: Value | None) -> Value:
    for one, rec in ctx.each(first):
        made = special(ctx, one, "__next__", [], site)
        if made is not None:
            return made
        if rec is not None and "return" in rec.fields:
            fields: dict[Any, Value] = {".value": rec.fields["return"], ".args": Tup((rec.fields["return"],))}
            ctx.raise_(ctx.new(site, "object", Ext("builtins.StopIteration"), fields, tag="StopIteration"))
    found = containers.taken(ctx, first)
    if found is None:
        found = ctx.lift(lambda one: _first_of(ctx, one, site), first)
    return found if default is None else join(found, default)


def _first_of(ctx: Context, iterator: Value, site: Site | None) -> Value:
    """What an iterator gives next: of `module.parameters()` it is known the first time."""
    rec = ctx.heap.get(iterator) if isinstance(iterator, Ref) else None
    if rec is not None and isinstance(iterator, Ref) and reading.FIRST_ITEM in rec.fields:
        ctx.heap[iterator] = rec.without(reading.FIRST_ITEM)
        return rec.at(reading.FIRST_ITEM)
    is_of_module = isinstance(iterator, Term) and iterator.op == "call" and _lists_parameters(iterator.args[0])
    if is_of_module and Term("item", iterator, Const(0)) not in ctx.reads:
        return reading.item(ctx, iterator, Const(0), site)
    return reading.element(ctx, iterator)


def _lists_parameters(function: Value) -> bool:
    """True for `module.parameters`, which gives them in the order in which they were set, those of the module itself first."""
    return isinstance(function, Term) and function.op == "attribute" and function.args[1] == "parameters"


def library(ctx: Context, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    """A call of Python's library, or of something that nobody here knows."""

    root, last = name.partition(".")[0], name.rpartition(".")[2]
    first = args[0] if args else UNKNOWN
    path = paths.call(ctx, name, args, site)
    if path is not None:
        return path
    if last == "is_torch_fx_proxy":
        return FALSE
    if name == "types.MethodType" and len(args) > 1 and isinstance(first, Func):
        return Func(first.body, first.frame, args[1], first.defaults, first.form)
    if name == "importlib.import_module" and isinstance(first, Const):
        return ctx.imported(ctx.unit, str(first.value))
    if name == "functools.partial" and args:
        return Partial(first, tuple(args[1:]), tuple(sorted(keywords.items())))
    if root == "functools":
        is_decorator = last in ("cache", "lru_cache", "singledispatch") and args and not isinstance(first, Const)
        if name == "functools.wraps.call" or is_decorator:
            return first
        is_given_later = last in ("wraps", "lru_cache", "update_wrapper", "cache")
        return Ext("functools.wraps.call") if is_given_later else unknown(site)
    if name == "collections.defaultdict":
        return ctx.new(site, "dict", None, {"default": first} if args and first != NONE else {}, tag=name)
    if name == "collections.deque":
        made = _sequence(ctx, "list", args[:1], site)
        length = args[1] if len(args) > 1 else keywords.get("maxlen", NONE)
        ctx.put(made, KEPT_AS, Const("deque"))
        if length != NONE:
            ctx.put(made, ".maxlen", length)
        return made
    if name in ("collections.namedtuple", "typing.NamedTuple"):
        names = Tup(tuple(Const(one) for one in _field_names(ctx, args)))
        defaults = Tup(tuple(reading.items(ctx, keywords["defaults"]) or ())) if "defaults" in keywords else Tup(())
        return Partial(Ext("collections.namedtuple.make"), (), (("@defaults", defaults), ("@names", names)))
    if name == "collections.namedtuple.make":
        return _named_tuple(ctx, args, dict(keywords), site)
    if name == "collections.namedtuple._make" and "@class" in keywords:
        return ctx.call(keywords["@class"], [Star(first)], {}, site)
    if name == "collections.namedtuple._make":
        given = reading.items(ctx, first)
        if given is None:
            given = [reading.element(ctx, first)] * _MOST_TURNS
        return _named_tuple(ctx, given, dict(keywords), site)
    if name == "dataclasses.field":
        factory = keywords.get("default_factory")
        if factory is None and keywords.get("init") != FALSE:
            return keywords.get("default", UNKNOWN)
        written = tuple((key, value) for key, value in keywords.items() if key == "init")
        if factory is None and "default" in keywords:
            factory = Partial(Ext("functools.wraps.call"), (keywords["default"],), ())
        return Partial(Ext("dataclasses.field"), () if factory is None else (factory,), written)
    if name == "dataclasses.replace" and args:
        if ctx.mode == "summary" and is_open(first):
            return Term("call", Ext(name), tuple(args), tuple(sorted(keywords.items())), site)
        rec = ctx.rec(first)
        if rec is not None and isinstance(rec.cls, Cls):
            held = {name: rec.fields.get("." + name, UNKNOWN) for name, _ in field_names(ctx.analysis, rec.cls.cls)}
            return ctx.call(rec.cls, [], containers.replaced(ctx, held, args[1:], keywords), site)
        made = containers.copied(ctx, first, site)
        for key, value in keywords.items():
            ctx.put(made, "." + key, value)
        return made
    if name in ("os.getenv", "os.environ.get") and args:
        told: Value = Term("item", Ext("os.environ"), first)
        default = args[1] if len(args) > 1 else keywords.get("default")
        is_device = isinstance(default, Const) and isinstance(devices.as_device(ctx, default), str)
        if default is None or (isinstance(default, Const) and not (is_device and isinstance(default.value, str))):
            return told  # what is the default, the user may write too
        is_set = Term("contains", first, Ext("os.environ"))
        return one_of([(frozenset({(is_set, True)}), told), (frozenset({(is_set, False)}), default)])
    if root in _PLAIN_ROOTS and root in sys.stdlib_module_names:
        return CLOCK if root in _CLOCKS else NUMBER
    return unknown(site)


def _field_names(ctx: Context, args: list[Value]) -> list[str]:
    if len(args) < 2:
        return []
    known = reading.items(ctx, args[1])
    if known is not None:
        return [one.value for one in known if isinstance(one, Const) and isinstance(one.value, str)]
    if isinstance(args[1], Const) and isinstance(args[1].value, str):
        return args[1].value.replace(",", " ").split()
    return []


def _named_tuple(ctx: Context, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    names, defaults = keywords.pop("@names", Tup(())), keywords.pop("@defaults", Tup(()))
    count = len(names.items) if isinstance(names, Tup) else 0
    given = dict(enumerate(defaults.items, count - len(defaults.items))) if isinstance(defaults, Tup) else {}
    ref = ctx.new(site, "object", None, {}, tag="namedtuple")
    spread = next((at for at, one in enumerate(args) if isinstance(one, Star)), len(args))
    rest = reading.element(ctx, args[spread].value) if spread < len(args) else None  # type: ignore[union-attr]
    for at, one in enumerate(names.items if isinstance(names, Tup) else ()):
        field = str(one.value) if isinstance(one, Const) else ""
        left = given.get(at, UNKNOWN) if rest is None else rest
        value = args[at] if at < spread else keywords.get(field, left)
        ctx.put(ref, "." + field, value)
        ctx.put(ref, ("k", at), value)
    return ref
