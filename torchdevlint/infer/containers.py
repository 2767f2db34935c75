"""Methods of lists, dicts and generators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchdevlint.infer import reading
from torchdevlint.infer.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Const,
    Rec,
    Ref,
    Site,
    Tup,
    Value,
    join,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_MOST_ITEMS = 8  # that are told apart in a list that is appended to


def method(
    ctx: Context, ref: Ref, rec: Rec, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None
) -> Value:
    """`container.name(...)`."""
    if rec.kind == "dict":
        return _of_dict(ctx, ref, rec, name, args, keywords, site)
    first = args[0] if args else UNKNOWN
    if name in ("append", "add", "appendleft", "insert"):
        _append(ctx, ref, rec, name, args[-1] if args else UNKNOWN)
        return NONE
    if name == "extend":
        extend(ctx, ref, first)
        return NONE
    if name in ("pop", "popleft"):
        return reading.item(ctx, ref, first if args else Const(0 if name == "popleft" else -1), site)
    if name == "copy":
        return copied(ctx, ref, site)
    if name in ("__next__", "send"):
        return reading.element(ctx, ref)
    if name in ("_replace", "_asdict"):
        made = copied(ctx, ref, site)
        for key, value in keywords.items():
            ctx.put(made, "." + key, value)
        return made
    return NONE if name in ("sort", "reverse", "clear", "remove") else NUMBER if name in ("index", "count") else UNKNOWN


def _append(ctx: Context, ref: Ref, rec: Rec, name: str, value: Value) -> None:
    count = sum(1 for key in rec.fields if isinstance(key, tuple))
    in_order = not (
        ctx.in_loop
        or "*" in rec.fields
        or count > _MOST_ITEMS
        or name != "append"
        or (ctx.stack and ctx.mode == "summary")
    )
    if in_order:
        ctx.put(ref, ("k", count), value)
    else:
        _add(ctx, ref, rec, value)


def _add(ctx: Context, ref: Ref, rec: Rec, value: Value) -> None:
    old = rec.fields.get("*")
    ctx.put(ref, "*", value if old is None else join(old, value))


def extend(ctx: Context, ref: Ref, other: Value) -> None:
    """`list.extend(other)`."""
    rec = ctx.heap.get(ref)
    if rec is not None:
        _add(ctx, ref, rec, reading.element(ctx, other))


def _of_dict(
    ctx: Context, ref: Ref, rec: Rec, name: str, args: list[Value], keywords: dict[str, Value], site: Site | None
) -> Value:
    first = args[0] if args else UNKNOWN
    if name in ("get", "pop", "setdefault"):
        return _looked_up(ctx, ref, rec, name, args, site)
    held = [value for key, value in rec.fields.items() if isinstance(key, tuple) or key == "*"]
    value = join(*held) if held else UNKNOWN
    if name == "values":
        return ctx.new(site, "generator", None, {"*": value}, tag=name)
    if name == "items":
        keys = [Const(key[1]) for key in rec.fields if isinstance(key, tuple)]
        key = join(*keys) if keys and "*" not in rec.fields else NUMBER
        return ctx.new(site, "generator", None, {"*": Tup((key, value))}, tag=name)
    if name == "keys":
        return ctx.new(site, "generator", None, {"*": reading.element(ctx, ref)}, tag=name)
    if name == "update":
        other = ctx.heap.get(first) if isinstance(first, Ref) else None
        fields: dict[Any, Value] = dict(other.fields) if other is not None else {}
        fields.update({("k", key): given for key, given in keywords.items()})
        for key, given in fields.items():
            if isinstance(key, tuple) or key == "*":
                ctx.put(ref, key, given)
        return NONE
    if name == "copy":
        return copied(ctx, ref, site)
    return NONE if name == "clear" else UNKNOWN


def _looked_up(ctx: Context, ref: Ref, rec: Rec, name: str, args: list[Value], site: Site | None) -> Value:
    first = args[0] if args else UNKNOWN
    if isinstance(first, Const) and ("k", first.value) in rec.fields:
        kept: Value = rec.fields["k", first.value]
        return kept
    if name == "setdefault" and len(args) > 1 and isinstance(first, Const):
        ctx.put(ref, ("k", first.value), args[1])
        return args[1]
    found = reading.item(ctx, ref, first, site)
    return join(found, args[1]) if len(args) > 1 and args[1] != NONE else found


def copied(ctx: Context, value: Value, site: Site | None) -> Value:
    """A deep copy: objects are new, tensors stay where they are."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or not isinstance(value, Ref):
        return value
    ref = ctx.new(site, rec.kind, rec.cls, {}, tag=("copy", _root(value.place)))
    fields = {}
    for key, content in rec.fields.items():
        is_object = isinstance(content, Ref) and content not in (value, ref)
        fields[key] = copied(ctx, content, site) if is_object and ctx.heap.get(content) is not rec else content
    ctx.heap[ref] = Rec(rec.kind, rec.cls, fields)
    return ref


def _root(place: Any) -> Any:
    """A place without the copies and calls around it, so that a copy in a loop is one object."""
    while isinstance(place, tuple) and len(place) == 3:
        inner = (
            place[2]
            if place[0] == "at"
            else place[1][1]
            if isinstance(place[1], tuple) and place[1][0] == "copy"
            else None
        )
        if inner is None:
            return place
        place = inner
    return place
