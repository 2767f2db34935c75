"""Methods of lists, dicts and generators."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torchdevlint.infer import lookups, presence, reading
from torchdevlint.infer.classes import special, wrapped
from torchdevlint.infer.joins import MOST_ALTERNATIVES, for_each, join, one_of
from torchdevlint.infer.presence import PRESENT
from torchdevlint.infer.state import CELL
from torchdevlint.infer.values import (
    FALSE,
    NONE,
    NOTHING,
    NUMBER,
    OTHER,
    SENT,
    TRUE,
    UNKNOWN,
    Args,
    Bound,
    Const,
    DoubleStar,
    Keywords,
    OneOf,
    Rec,
    Ref,
    Site,
    SliceValue,
    Star,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    as_key,
    is_partial,
    of_key,
    options_of,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_MOST_ITEMS = 8  # that are told apart in a list that is appended to


def method(ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    """`container.name(...)`."""
    if name == "__init__":
        fill(ctx, ref, args, keywords)
        return NONE
    if rec.kind == "dict":
        return _of_dict(ctx, ref, rec, name, args, keywords, site)
    first = args[0] if args else UNKNOWN
    if name == "insert":
        if not _insert(ctx, ref, rec, args):  # anywhere: nobody knows the order from then on
            ctx.heap[ref] = _holding(rec, [])
            ctx.put(ref, "*", join(*rec.items.values(), *args[1:]))
        return NONE
    if name == "appendleft" and _insert(ctx, ref, rec, [Const(0), *args]):
        return NONE
    if name == "clear" and not ctx.is_replaying:
        ctx.heap[ref] = _holding(rec, [])
    if name in _PUTS:
        _append(ctx, ref, rec, name, (args[0] if name == "put" else args[-1]) if args else UNKNOWN)
        return NONE
    if name in ("extend", "extendleft", "update"):
        for one in args:
            extend(ctx, ref, one)
        return NONE
    if name in ("union", "symmetric_difference"):
        held = [reading.element(ctx, one) for one in (ref, *args)]
        return ctx.new(site, "list", None, {"*": join(*held)}, tag=name)
    if name in ("difference", "intersection", "copy"):
        return copied(ctx, ref, site, deep=False)
    if name in ("get", "join") and ctx.started and not args:
        ctx.go_on()  # a queue that another thread fills
    if name in ("get", "get_nowait", "popright", "__next__", "next"):  # a loader's iterator had both
        return reading.element(ctx, ref)
    if name in ("pop", "popleft"):
        position = first if args else Const(0 if name == "popleft" else -1)
        taken = reading.item(ctx, ref, position, site)
        _take(ctx, ref, rec, position)
        return taken
    if name == "save_for_backward" and rec.kind == "object":
        ctx.put(ref, ".saved_tensors", Tup(tuple(args)))
        return NONE
    if name == "send":
        return _sent(ctx, reading.element(ctx, ref), first)
    if name in ("reverse", "rotate", "sort") and rec.kind == "list":
        known = reading.items(ctx, ref) if name == "sort" else None
        in_order = None if known is None or ctx.in_loop or ctx.is_replaying else in_order_of(ctx, known, keywords)
        if in_order is not None:
            ctx.heap[ref] = _holding(rec, in_order)
        else:
            _reorder(ctx, ref, rec, name, first if args else Const(1))
        return NONE
    if name in ("_replace", "_asdict"):
        if name == "_asdict":
            return ctx.new(site, "dict", None, {("k", key): one for key, one in rec.attributes.items()}, tag=name)
        made = copied(ctx, ref, site, deep=False)
        for at, (key, value) in enumerate(replaced(ctx, rec.attributes, args, keywords).items()):
            ctx.put(made, "." + key, value)
            ctx.put(made, ("k", at), value)
        return made
    if name == "remove" and rec.kind == "list":
        _removed(ctx, ref, rec, first)
    return NONE if name in ("clear", "remove") else NUMBER if name in ("index", "count") else UNKNOWN


_PUTS = frozenset({"append", "add", "appendleft", "insert", "put", "put_nowait"})


def replaced(ctx: Context, held: dict[str, Value], args: Args, keywords: Keywords) -> dict[str, Value]:
    """The fields of an object with others in their place: those of `**others` that nobody knows may be each of them."""
    for one in args:
        if isinstance(one, DoubleStar):
            held = {name: join(value, reading.item(ctx, one.value, Const(name))) for name, value in held.items()}
    return {**held, **keywords}


def contents(ctx: Context, kind: str, args: Args, keywords: Keywords) -> dict[Any, Value]:
    """The fields of a new list or dict that is made of other ones."""
    first = args[0] if args else NONE
    fields: dict[Any, Value] = {}
    if kind == "list":
        known = reading.items(ctx, first)
        if known is not None:
            return {("k", at): one for at, one in enumerate(known)}
        return {"*": reading.element(ctx, first)} if first != NONE else {}
    held = entries(ctx, first)
    if held is not None:
        fields = dict(held)
    elif first != NONE:
        pairs = reading.items(ctx, first)
        split = [reading.items(ctx, one) for one in pairs] if pairs is not None else [None]
        named = [(as_key(one[0]), one[1]) for one in split if one is not None and len(one) == 2]
        if len(named) == len(split) and all(isinstance(key, Const) for key, _ in named):
            fields = {("k", key.value): value for key, value in named if isinstance(key, Const)}
        else:
            fields = {"*": reading.unpacked(ctx, reading.element(ctx, first), 1, 2, starred=False)}
    return {**fields, **{("k", key): value for key, value in keywords.items()}}


def fill(ctx: Context, ref: Ref, args: Args, keywords: Keywords) -> None:
    """What the constructor of a list or dict does, or of a class that wraps one, whose `__setitem__` is called."""
    inner = wrapped(ctx, ref)
    rec = ctx.heap.get(inner) if isinstance(inner, Ref) else None
    if rec is None:
        return
    given = contents(ctx, rec.kind, args, keywords)
    if inner == ref or rec.kind == "list":
        ctx.heap[inner] = Rec(rec.kind, rec.cls, {**rec.fields, **given})
        return
    from torchdevlint.infer.tensors import store_item

    for key, value in given.items():
        store_item(ctx, ref, of_key(key[1]) if isinstance(key, tuple) else NUMBER, value, None)


def entries(ctx: Context, value: Value) -> dict[Any, Value] | None:
    """What a dict holds, or the `__dict__` of an object; None for anything else."""
    if isinstance(value, Bound) and value.name == "__dict__":
        rec = ctx.rec(value.object)
        held = rec.attributes.items() if rec is not None else ()
        return {("k", name): one for name, one in held if name[:1] != "@"} if rec is not None else None
    value = wrapped(ctx, value)
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or rec.kind != "dict":
        return None
    return {key: one for key, one in rec.fields.items() if isinstance(key, tuple) or key in ("*", KEYS)}


KEYS = ".@keys"  # of a dict, those that are no constants
KEY_OF_TURN = ".@key"  # of what a comprehension has made, the key of each turn, where a caller tells which these are


def add_key(fields: dict[Any, Value], key: Value) -> None:
    """A key that is an object: a loop over the dict gives it."""
    if isinstance(key, (Ref, Tensor)):
        fields[KEYS] = join(fields[KEYS], key) if KEYS in fields else key


def known_at(value: Tup, at: int) -> Value | None:
    """The item of a tuple at a position; None out of its range, and for what stands behind something of any length, or in front of it from the end."""
    if not -len(value.items) <= at < len(value.items):
        return None
    passed = value.items[: at + 1] if at >= 0 else value.items[at:]
    return None if any(isinstance(one, Star) for one in passed) else value.items[at]


def sliced(ctx: Context, value: Value, key: SliceValue, site: Site | None) -> Value | None:
    """`items[lower:upper]` of a tuple or list whose items are known; None where the bounds are not."""
    known, where = reading.items(ctx, value), _slice_of(key)
    if known is None and where is not None and isinstance(value, Tup):
        return _slice_in_front(value, where)
    if known is None or where is None:
        return None
    part = known[where]
    if isinstance(value, Tup):
        return Tup(tuple(part))
    return ctx.new(site, "list", None, {("k", at): one for at, one in enumerate(part)}, tag="slice")


def _slice_in_front(value: Tup, where: slice) -> Value | None:
    """A slice of a tuple that begins, and ends if it does, in front of what may be of any length."""
    lower, upper = where.start or 0, where.stop
    first = next(at for at, one in enumerate(value.items) if isinstance(one, Star))
    if lower < 0 or where.step not in (None, 1) or lower > first or (upper is not None and not 0 <= upper <= first):
        return None
    return Tup(value.items[where])


def _slice_of(key: SliceValue) -> slice | None:
    """The slice, where its bounds are known."""
    bounds = [key.lower, key.upper, key.step]
    numbers = [one.value if isinstance(one, Const) else None for one in bounds]
    is_known = all(one is None or isinstance(one, Const) for one in bounds)
    if not is_known or not all(one is None or type(one) is int for one in numbers) or numbers[2] == 0:
        return None
    return slice(*numbers)


def part_of_text(text: str, key: Value) -> Value:
    """`text[key]`, where it is known."""
    where = _slice_of(key) if isinstance(key, SliceValue) else key.value if isinstance(key, Const) else None
    if isinstance(where, slice) or (type(where) is int and -len(text) <= where < len(text)):
        return Const(text[where])
    return UNKNOWN


def _append(ctx: Context, ref: Ref, rec: Rec, name: str, value: Value) -> None:
    count = sum(1 for key in rec.fields if isinstance(key, tuple))
    is_last = name == "append" and "*" not in rec.fields and count <= _MOST_ITEMS
    in_order = is_last and not (ctx.in_loop or ctx.is_replaying)
    if in_order and rec.fields.get(".maxlen") == Const(count):
        ctx.heap[ref] = _holding(rec, [*(reading.items(ctx, ref) or ()), value][1:])
    elif in_order:
        ctx.put(ref, ("k", count), value)
    else:
        ctx.add(ref, "*", value)


def _insert(ctx: Context, ref: Ref, rec: Rec, args: Args) -> bool:
    """`items.insert(position, value)` of a list whose items are known; False where it may be any position."""
    known = _in_order(ctx, ref, args[0]) if len(args) == 2 else None
    if known is None or len(known[0]) >= _MOST_ITEMS:
        return False
    items, position = known
    items.insert(position, args[1])
    ctx.heap[ref] = _holding(rec, items)
    return True


def _holding(rec: Rec, items: list[Value]) -> Rec:
    """A list with other items."""
    kept = {
        key: one for key, one in rec.fields.items() if not isinstance(key, tuple) and key not in ("*", CELL, PRESENT)
    }
    return Rec(rec.kind, rec.cls, {**kept, **{("k", at): one for at, one in enumerate(items)}})


def _take(ctx: Context, ref: Ref, rec: Rec, position: Value) -> None:
    """Takes an item, or those of a slice, out of a list whose items are known."""
    where = _slice_of(position) if isinstance(position, SliceValue) else None
    known = _in_order(ctx, ref, Const(0) if where is not None else position) if rec.kind == "list" else None
    if known is None:
        return
    items, at = known
    if where is not None:
        del items[where]
    elif -len(items) <= at < len(items):
        del items[at]
    ctx.heap[ref] = _holding(rec, items)


def taken(ctx: Context, iterator: Value) -> Value | None:
    """The next item of an iterator, which has it no more then; None where it is not known which one comes."""
    rec = ctx.heap.get(iterator) if isinstance(iterator, Ref) else None
    known = _in_order(ctx, iterator, Const(0)) if rec is not None and isinstance(iterator, Ref) else None
    if rec is None or known is None or not known[0]:
        return None
    first, *rest = known[0]
    given: dict[Any, Value] = {("k", at): one for at, one in enumerate(rest)}
    if rec.kind == "generator":
        given = {**rec.fields, reading.ITEMS: Tup(tuple(rest))}
    ctx.heap[iterator] = Rec(rec.kind, rec.cls, given)
    return first


def _in_order(ctx: Context, ref: Ref, position: Value) -> tuple[list[Value], int] | None:
    """The items of a list, and a position among them, where both are known and this is done once; None otherwise."""
    known = reading.items(ctx, ref)
    at = position.value if isinstance(position, Const) else None
    if known is None or type(at) is not int or ctx.in_loop or ctx.is_replaying:
        return None
    return known, at


def delete(ctx: Context, value: Value, key: Value, site: Site | None) -> None:
    """`del value[key]`."""
    if isinstance(value, Bound) and value.name == "__dict__" and isinstance(key, Const):
        from torchdevlint.infer.modules import store_attribute

        store_attribute(ctx, value.object, str(key.value), NOTHING, by="raw_del")
        return
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or not isinstance(value, Ref):
        return
    if special(ctx, value, "__delitem__", [key], site) is not None:
        return
    if (inner := wrapped(ctx, value)) != value:
        delete(ctx, inner, key, site)
    elif rec.kind == "dict":
        _drop(ctx, value, rec, key)
    else:
        _take(ctx, value, rec, key)


def _drop(ctx: Context, ref: Ref, rec: Rec, key: Value) -> None:
    """Takes an entry out of a dict, where its key is known and this is done once."""
    key = as_key(key)
    if isinstance(key, Const) and not ctx.in_loop and ("k", key.value) in rec.fields:
        ctx.heap[ref] = rec.without(("k", key.value))


def _removed(ctx: Context, ref: Ref, rec: Rec, value: Value) -> None:
    """`items.remove(value)` of a list whose items are known: the first that is the same."""
    known = reading.items(ctx, ref)
    if known is not None and value in known and isinstance(value, (Const, Ref)):
        _take(ctx, ref, rec, Const(known.index(value)))


def in_order_of(ctx: Context, known: list[Value], keywords: Keywords) -> list[Value] | None:
    """Items in the order in which `sorted(items, key=..., reverse=...)` brings them; None where a key is not known."""
    by, turned = keywords.get("key", NONE), keywords.get("reverse", Const(False))
    keys = [_key_of_order(one if by == NONE else ctx.call(by, [one], {}, None)) for one in known]
    if None in keys or not isinstance(turned, Const):
        return None
    try:
        places = sorted(range(len(known)), key=keys.__getitem__, reverse=bool(turned.value))
    except TypeError:  # a name and a number
        return None
    return [known[at] for at in places]


def _key_of_order(key: Value) -> Any:
    if isinstance(key, Const):
        return key.value if isinstance(key.value, (str, int, float)) else None
    parts = tuple(map(_key_of_order, key.items)) if isinstance(key, Tup) else (None,)
    return None if None in parts else parts


def _reorder(ctx: Context, ref: Ref, rec: Rec, name: str, turned: Value) -> None:
    """The items in another order: the opposite one, or one that nobody knows."""
    known = reading.items(ctx, ref)
    by = turned.value if isinstance(turned, Const) and type(turned.value) is int else None
    if known and name != "sort" and (name == "reverse" or by is not None):
        turns = -(by or 0) % len(known)
        ctx.heap[ref] = _holding(rec, known[::-1] if name == "reverse" else known[turns:] + known[:turns])
        return
    ctx.heap[ref] = _holding(rec, [])
    if rec.items:
        ctx.put(ref, "*", join(*rec.items.values()))


def _sent(ctx: Context, value: Value, given: Value) -> Value:
    """What a generator yields once something was sent into it."""
    from torchdevlint.infer.replay import Replay
    from torchdevlint.infer.summary import Summary

    found = []
    for guards, one in options_of(value):
        body = _generator_of(one)
        here = one if body is None else Replay(ctx, Summary(), body, {SENT: given}, None).value(one)
        found.append((guards, here))
    return one_of(found)


def _generator_of(value: object) -> ir.Body | None:
    """The body whose sent value a term is computed from."""
    if isinstance(value, Term) and value.op == "parameter":
        return value.args[0] if value.args[1] == SENT else None
    parts = value.args if isinstance(value, Term) else value if isinstance(value, tuple) else ()
    return next((found for part in parts if (found := _generator_of(part)) is not None), None)


def store_anywhere(ctx: Context, ref: Value, value: Value) -> None:
    """An item under a key, or at a position, that nobody knows: each of those that are known may be it."""
    rec = ctx.rec(ref)
    if rec is not None:
        held = {key: join(one, value) for key, one in rec.items.items()}
        ctx.heap[ref] = Rec(rec.kind, rec.cls, {**rec.fields, "*": value, **held})


def holds_unnamed_objects(rec: Rec) -> bool:
    """True for a dict in which objects stand under keys that nobody knows, and nothing else: what is read under such a key is one of them."""
    return rec.items.keys() == {"*"} and all(isinstance(one, Ref) for one in alternatives(rec.at("*")))


def extend(ctx: Context, ref: Ref, other: Value) -> None:
    """`list.extend(other)`."""
    rec, known = ctx.heap.get(ref), reading.items(ctx, other)
    for one in known if known is not None and len(known) <= _MOST_ITEMS else ():
        _append(ctx, ref, ctx.heap[ref], "append", one)
    if rec is not None and (known is None or len(known) > _MOST_ITEMS):
        ctx.add(ref, "*", reading.element(ctx, other))


def _of_dict(ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, keywords: Keywords, site: Site | None) -> Value:
    first = as_key(args[0]) if args else UNKNOWN
    if name in ("get", "pop", "setdefault"):
        return _looked_up(ctx, ref, rec, name, args, site)
    several = presence.ways(rec, ctx.facts) if PRESENT in rec.fields else None
    if several is not None and len(several) == 1:
        others = {key: one for key, one in rec.fields.items() if not isinstance(key, tuple) and key != PRESENT}
        rec, several = Rec(rec.kind, rec.cls, {**others, **several[0][1]}), None
    here = [(guards, one) for guards, held in several for one in held.values()] if several is not None else None
    value = one_of(here) if here else join(*rec.items.values()) if rec.items else UNKNOWN
    if name in ("values", "items", "keys"):
        return ctx.new(site, "generator", None, _view(ctx, ref, rec, name, value, site), tag=name)
    if name == "popitem":
        return _last_entry(ctx, ref, rec, keywords.get("last", Const(True)), value)
    if name == "update":
        held_there = entries(ctx, first)
        fields: dict[Any, Value] = dict(held_there or {})
        if first is not UNKNOWN and held_there is None:
            fields["*"] = reading.unpacked(ctx, reading.element(ctx, first), 1, 2, starred=False)
        fields.update({("k", key): given for key, given in keywords.items()})
        for key, given in fields.items():
            if key == "*":
                store_anywhere(ctx, ref, given)
            elif isinstance(key, tuple):
                ctx.put(ref, key, given)
        return NONE
    if name == "move_to_end":
        _to_end(ctx, ref, rec, first, args[1] if len(args) > 1 else keywords.get("last", Const(True)))
        return NONE
    if name == "copy":
        return copied(ctx, ref, site, deep=False)
    if name == "new_child":
        return ctx.new(site, "dict", None, {**rec.fields, **(entries(ctx, first) or {}), ".parents": ref}, tag=name)
    return NONE if name == "clear" else UNKNOWN


def _to_end(ctx: Context, ref: Ref, rec: Rec, key: Value, is_last: Value) -> None:
    """`parts.move_to_end(key)`, where the key is known; else nobody knows the order any more."""
    at = ("k", key.value) if isinstance(key, Const) else None
    if at in rec.fields and isinstance(is_last, Const) and not (ctx.in_loop or ctx.is_replaying):
        others, moved = rec.without(at).fields, {at: rec.fields[at]}
        ctx.heap[ref] = Rec(rec.kind, rec.cls, {**others, **moved} if is_last.value else {**moved, **others})
    elif rec.items:
        ctx.put(ref, _UNORDERED, Const(True))


_UNORDERED = ".@unordered"  # of a dict whose order nobody knows


def _last_entry(ctx: Context, ref: Ref, rec: Rec, is_last: Value, value: Value) -> Value:
    """`parts.popitem()`: the last entry, or with `last=False` the first one."""
    keys = [key for key in rec.fields if isinstance(key, tuple)]
    is_known = isinstance(is_last, Const) and _UNORDERED not in rec.fields
    is_once = not (ctx.in_loop or ctx.is_replaying)
    if not keys or "*" in rec.fields or not is_once or not is_known or not isinstance(is_last, Const):
        return Tup((NUMBER, value))
    key = keys[-1 if is_last.value else 0]
    _drop(ctx, ref, rec, Const(key[1]))
    return Tup((of_key(key[1]), rec.fields[key]))


def _view(ctx: Context, ref: Ref, rec: Rec, name: str, value: Value, site: Site | None) -> dict[Any, Value]:
    """What a view of a dict gives, in the order in which its keys were put in."""
    known = [(of_key(key[1]), content) for key, content in rec.fields.items() if isinstance(key, tuple)]
    is_known = 0 < len(known) <= reading.MOST_SHORT_TURNS and "*" not in rec.fields
    if PRESENT in rec.fields and is_known:
        return {"*": _pairs(rec, site) if name == "items" else value if name == "values" else reading.element(ctx, ref)}
    if name == "items":
        key = join(*(one for one, _ in known)) if is_known else rec.fields.get(KEYS, NUMBER)
        one: Value = _pairs(rec, site) if is_known and 1 < len(known) <= MOST_ALTERNATIVES else Tup((key, value))
        in_order: list[Value] = [Tup(pair) for pair in known]
    else:
        one = value if name == "values" else reading.element(ctx, ref)
        in_order = [content if name == "values" else key for key, content in known]
    return {"*": one, reading.ITEMS: Tup(tuple(in_order))} if is_known else {"*": one}


def _pairs(rec: Rec, site: Site | None) -> Value:
    """A key with its value; guards tell the pairs apart, so that a key is never taken with the value of another."""
    keys = [key for key in rec.fields if isinstance(key, tuple)]
    turns = {key: Term("turn", site, key[1]) for key in keys}
    there = presence.marks(rec)
    return one_of(
        [
            (own | {(turns[other], other == key) for other in keys}, Tup((of_key(key[1]), rec.fields[key])))
            for key in keys
            for own, one in options_of(there.get(key, TRUE))
            if one != FALSE
        ]
    )


def _looked_up(ctx: Context, ref: Ref, rec: Rec, name: str, args: Args, site: Site | None) -> Value:
    first = as_key(args[0]) if args else UNKNOWN
    if isinstance(first, Const) and ("k", first.value) in rec.fields and not is_partial(first.value):
        field = "k", first.value
        held = rec.at(field)
        is_there = presence.is_there(rec, field, ctx.facts) if field in presence.marks(rec) else TRUE
        if name == "pop":
            _drop(ctx, ref, rec, first)
        otherwise = args[1] if len(args) > 1 else NOTHING if name == "pop" else NONE
        found = one_of([(guards, held if one == TRUE else otherwise) for guards, one in options_of(is_there)])
        if name == "setdefault":
            ctx.put(ref, field, found)
        return found
    if name == "setdefault" and len(args) > 1 and isinstance(first, Const):
        ctx.put(ref, ("k", first.value), args[1])
        return args[1]
    if name == "setdefault" and len(args) > 1 and isinstance(args[1], Ref) and rec.items.keys() <= {"*"}:
        store_anywhere(ctx, ref, args[1])
        return ctx.heap[ref].at("*")
    found = reading.item(ctx, ref, first, site)
    if found == NOTHING and name == "get" and not ctx.in_loop:
        return args[1] if len(args) > 1 else NONE
    is_cache = not isinstance(first, Const) and any(isinstance(one, Tensor) for one in alternatives(found))
    if is_cache and lookups.may_tell_place(first):
        return UNKNOWN
    if len(args) > 1 and args[1] != NONE:
        return join(found, args[1])
    return join(found, NONE) if is_cache and name == "get" else found


def _of_state(ctx: Context, value: Ref, rec: Rec, state: Value, site: Site | None) -> Value:
    """A copy by what an object tells of itself: `__getstate__`, and `__setstate__` of the copy, whose attributes it has else (copy.py, `_reconstruct`)."""
    made = ctx.new(site, rec.kind, rec.cls, {}, tag=("copy", _root(value.place)))
    told = ctx.rec(state)
    if special(ctx, made, "__setstate__", [state], site) is None and told is not None:
        for key, content in told.items.items():
            if isinstance(key, tuple):
                ctx.put(made, f".{key[1]}", content)
    return made


def copied(
    ctx: Context, value: Value, site: Site | None, *, deep: bool = True, done: dict[Value, Value] | None = None
) -> Value:
    """A copy, deep or of one object alone: objects are new, tensors stay where they are. `done`: the copies so far, of objects that hold each other."""
    rec = ctx.heap.get(value) if isinstance(value, Ref) else None
    if rec is None or not isinstance(value, Ref):
        return value
    done = {} if done is None else done
    if value in done:
        return done[value]
    made = special(ctx, value, "__deepcopy__" if deep else "__copy__", [OTHER] if deep else [], site)
    if made is not None:
        return made
    state = special(ctx, value, "__getstate__", [], site)
    if state is not None:
        return _of_state(ctx, value, rec, state if not deep else copied(ctx, state, site, done=done), site)
    if rec.kind == "module" and not deep:
        return value  # it holds the same parameters, in the same dicts: both are moved, and both get what is replaced
    ref = done[value] = ctx.new(site, rec.kind, rec.cls, {}, tag=("copy", _root(value.place)))
    done[ref] = ref  # a copy in a loop is one object, which may hold itself

    def part(one: Value) -> Value:
        if isinstance(one, Tup):
            return Tup(tuple(for_each(part, item) for item in one.items))
        return copied(ctx, one, site, done=done)

    fields = {
        key: for_each(part, content) if deep and isinstance(content, (Ref, OneOf, Tup)) else content
        for key, content in rec.fields.items()
    }
    if deep and rec.kind == "module":
        fields = {key: for_each(lambda one: _of_copy(one, site), content) for key, content in fields.items()}
    ctx.heap[ref] = Rec(rec.kind, rec.cls, fields)
    return ref


def _of_copy(content: Any, site: Site | None) -> Any:
    """What a copy of a module holds: its parameters are where the copy is, and it was made where the module was, to go its own way."""
    if isinstance(content, Site):
        return content.copied(site)
    if isinstance(content, Tensor) and content.origin is not None and content.origin.is_part:
        return replace(content, origin=content.origin.whole.copied(site).part)
    return content


def _root(place: Any) -> Any:
    """A place without the copies and calls around it, so that a copy in a loop is one object."""
    while isinstance(place, tuple) and len(place) == 3:
        if place[0] == "at":
            place = place[2]
        elif isinstance(place[1], tuple) and place[1][0] == "copy":
            place = place[1][1]
        else:
            break
    return place
