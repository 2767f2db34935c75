"""Python's own functions and library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import conditions, containers, modules, reading, tensors
from torchdevlint.infer.classes import attribute_of
from torchdevlint.infer.summary import Operand
from torchdevlint.infer.values import (
    EXPECTED_ERROR,
    FALSE,
    NONE,
    NUMBER,
    OTHER,
    UNKNOWN,
    Bound,
    Cls,
    Const,
    Ext,
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
    one_of,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_TO_NUMBER = frozenset(
    "len int float str bool repr abs round range id hash any all callable issubclass ord chr divmod format input".split()
)
_SEQUENCES = frozenset({"list", "tuple", "set", "frozenset", "iter", "reversed"})
_PLAIN_ROOTS = frozenset(
    "math random os time json re sys logging pathlib string datetime argparse glob shutil warnings collections typing".split()
)


def _unknown(site: Site | None) -> Value:
    return Term("unknown", site) if site is not None else UNKNOWN


def builtin(ctx: Context, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    """A call of a builtin."""
    from torchdevlint.infer.calls import call

    first = args[0] if args else UNKNOWN
    if name == "isinstance" and len(args) > 1:
        return conditions.is_instance(ctx, first, args[1])
    if name == "hasattr" and len(args) > 1 and isinstance(args[1], Const):
        from torchdevlint.infer.foreign import has_attribute

        return lift(lambda one: has_attribute(ctx, one, str(args[1].value)), first)  # type: ignore[union-attr]
    if name in _TO_NUMBER:
        return first if name in ("abs", "round") and isinstance(first, (Tensor, Term)) else NUMBER
    if name in _SEQUENCES:
        return _sequence(ctx, name, args, site)
    if name == "sorted":
        return ctx.new(site, "list", None, {"*": reading.element(ctx, first)}, tag=name)
    if name == "dict":
        return _dict(ctx, args, keywords, site)
    if name == "next":
        return _next(ctx, first, site)
    if name == "enumerate":
        return ctx.new(site, "generator", None, {"*": Tup((NUMBER, reading.element(ctx, first)))}, tag=name)
    if name == "zip":
        parts = tuple(reading.element(ctx, one) for one in args if not isinstance(one, Star))
        return ctx.new(site, "generator", None, {"*": Tup(parts)}, tag=name)
    if name == "filter" and len(args) > 1:
        kept = [one for one in alternatives(reading.element(ctx, args[1])) if one != NONE]
        return ctx.new(site, "generator", None, {"*": join(*kept) if kept else UNKNOWN}, tag=name)
    if name == "map" and len(args) > 1:
        made = call(ctx, first, [reading.element(ctx, one) for one in args[1:]], {}, site)
        return ctx.new(site, "generator", None, {"*": made}, tag=name)
    if name in ("max", "min"):
        return reading.element(ctx, first) if len(args) == 1 or "key" in keywords else join(*args)
    if name == "sum":
        inner = reading.element(ctx, first)
        return tensors.binary(ctx, "+", inner, args[1], site) if len(args) > 1 else inner
    if name == "getattr" and len(args) > 1:
        if not isinstance(args[1], Const):
            return _unknown(site)
        return reading.attribute(ctx, first, str(args[1].value), site)
    if name == "setattr" and len(args) > 2:
        if isinstance(args[1], Const):
            modules.store_attribute(ctx, first, str(args[1].value), args[2])
        return NONE
    if name == "type":
        return OTHER
    if name == "print":
        return NONE
    if name == "super":
        return UNKNOWN
    return OTHER if name[:1].isupper() else _unknown(site)


def _sequence(ctx: Context, name: str, args: list[Value], site: Site | None) -> Value:
    if not args:
        return Tup(()) if name == "tuple" else ctx.new(site, "list", None, {}, tag=name)
    first = args[0]
    known = reading.items(ctx, first)
    if known is not None:
        if name == "tuple":
            return Tup(tuple(known))
        ordered = known[::-1] if name == "reversed" else known
        return ctx.new(site, "list", None, {("k", at): one for at, one in enumerate(ordered)}, tag=name)
    if is_open(first) and name in ("tuple", "list", "iter"):
        return first
    return ctx.new(site, "list", None, {"*": reading.element(ctx, first)}, tag=name)


def _dict(ctx: Context, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    fields: dict[Any, Value] = {("k", key): value for key, value in keywords.items()}
    if args:
        rec = ctx.heap.get(args[0]) if isinstance(args[0], Ref) else None
        if rec is not None and rec.kind == "dict":
            fields = {**rec.fields, **fields}
        else:
            pair = reading.element(ctx, args[0])
            fields["*"] = reading.unpacked(ctx, pair, 1, 2, starred=False)
    return ctx.new(site, "dict", None, fields, tag="dict")


def _next(ctx: Context, first: Value, site: Site | None) -> Value:
    from torchdevlint.infer.calls import call

    for one in alternatives(first):
        rec = ctx.heap.get(one) if isinstance(one, Ref) else None
        if rec is not None and isinstance(rec.cls, Cls):
            method = attribute_of(ctx, rec.cls, "__next__", one)
            if method is not None:
                return call(ctx, method, [], {}, site)
    return reading.element(ctx, first)


def library(ctx: Context, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None) -> Value:
    """A call of Python's library, or of something that nobody here knows."""
    from torchdevlint.infer.calls import call

    root, last = name.partition(".")[0], name.rpartition(".")[2]
    first = args[0] if args else UNKNOWN
    if name in ("pytest.raises", "contextlib.suppress"):
        return EXPECTED_ERROR
    if last == "is_torch_fx_proxy":
        return FALSE
    if name == "functools.partial" and args:
        return Partial(first, tuple(args[1:]), tuple(sorted(keywords.items())))
    if name == "functools.reduce" and len(args) >= 2:
        start = args[2] if len(args) > 2 else reading.element(ctx, args[1])
        return join(start, call(ctx, first, [start, reading.element(ctx, args[1])], {}, site))
    if root == "functools":
        if name == "functools.wraps.call" or (
            last in ("cache", "lru_cache", "singledispatch") and args and not isinstance(first, Const)
        ):
            return first
        return (
            Ext("functools.wraps.call") if last in ("wraps", "lru_cache", "update_wrapper", "cache") else _unknown(site)
        )
    if name in ("copy.deepcopy", "copy.copy") and args:
        return lift(lambda one: containers.copied(ctx, one, site), first)
    if name == "collections.defaultdict":
        return ctx.new(site, "dict", None, {"default": first} if args and first != NONE else {}, tag=name)
    if name == "collections.OrderedDict":
        return _dict(ctx, args, keywords, site)
    if name == "collections.deque":
        return _sequence(ctx, "list", args[:1], site)
    if name in ("collections.namedtuple", "typing.NamedTuple"):
        names = _field_names(ctx, args)
        return Partial(Ext("collections.namedtuple.make"), (), (("@names", Tup(tuple(Const(one) for one in names))),))
    if name == "collections.namedtuple.make":
        return _named_tuple(ctx, args, dict(keywords), site)
    if name in ("types.SimpleNamespace", "argparse.Namespace"):
        return ctx.new(site, "object", None, {"." + key: value for key, value in keywords.items()}, tag=name)
    if name == "dataclasses.field":
        factory = keywords.get("default_factory")
        return (
            Partial(Ext("dataclasses.field"), (factory,), ())
            if factory is not None
            else keywords.get("default", UNKNOWN)
        )
    if name == "dataclasses.replace" and args:
        made = containers.copied(ctx, first, site)
        for key, value in keywords.items():
            ctx.put(made, "." + key, value)
        return made
    if name == "itertools.chain" and args:
        parts = one_of([(frozenset(), reading.element(ctx, one)) for one in args])
        return ctx.new(site, "generator", None, {"*": parts}, tag=name)
    if name in ("io.BytesIO", "io.StringIO"):
        return ctx.new(site, "object", Ext("io.BytesIO"), {}, tag=name)
    if root in _PLAIN_ROOTS and root in sys.stdlib_module_names and last not in ("ArgumentParser",):
        return NUMBER
    return _unknown(site)


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
    names = keywords.pop("@names")
    ref = ctx.new(site, "object", None, {}, tag="namedtuple")
    for at, one in enumerate(names.items if isinstance(names, Tup) else ()):
        field = str(one.value) if isinstance(one, Const) else ""
        value = args[at] if at < len(args) else keywords.get(field, UNKNOWN)
        ctx.put(ref, "." + field, value)
        ctx.put(ref, ("k", at), value)
    return ref


__all__ = ["Bound", "Operand", "builtin", "library"]
