"""Values in words, short and in the terms of the field: `tensor @ cpu (default), rank 0, made on line 9`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchdevlint.infer.values import (
    ACCELERATOR,
    CHOSEN,
    EITHER,
    HOST,
    MANY,
    NOWHERE,
    UNKNOWN,
    Array,
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
    SliceValue,
    Sort,
    Star,
    Super,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    as_chosen,
    conditions_of,
    is_choice,
    of_key,
    places_of,
)

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context

_PLACES = {HOST: "cpu", ACCELERATOR: "accelerator", CHOSEN: "accelerator if there is one", NOWHERE: "unknown device"}
_SORTS = {"other": "no tensor", "size": "torch.Size", "accelerator": "name of an accelerator"}
_MOST_ITEMS = 4
_MOST_NESTED = 3
_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LONGEST = 40  # characters of a constant


def show(value: Value, ctx: Context | None = None, nested: int = 0) -> str:
    """A value in words. `ctx` tells what objects hold now."""
    if nested > _MOST_NESTED:
        return "..."

    def inner(one: Any) -> str:
        return show(one, ctx, nested + 1)

    match value:
        case Tensor():
            return _tensor(value)
        case Device(place):
            return f"torch.device {show_place(place)}"
        case Const(constant):
            told = repr(constant)
            return told if len(told) <= _LONGEST else told[: _LONGEST - 3] + "..."
        case Tup(items):
            return f"({_several([inner(one) for one in items])}{',' * (len(items) == 1)})"
        case OneOf(options):
            several = [inner(one) + _under(guards) for guards, one in options]
            return " | ".join(dict.fromkeys(several)) or "no value"
        case Ref():
            return _object(value, ctx, nested)
        case Func():
            kind = value.form or ("method" if value.receiver is not None else "function")
            return f"{kind} {value.body.qualname}"
        case Cls(cls):
            return f"class {cls.qualname}"
        case Ext(name):
            return name.removeprefix("builtins.")
        case Text(parts=parts):
            written = (str(one.value) if isinstance(one, Const) else f"{{{inner(one)}}}" for one in parts)
            return f'text "{"".join(written)}"'
        case Array(name, rank=rank) if rank not in (0, None, MANY):
            return f"{name}, rank {-rank} or more" if rank < 0 else f"{name}, rank {rank}"
        case Sort(name):
            return _SORTS.get(name, name)
        case Bound(holder, name):
            return f"method {name} of {inner(holder)}"
        case Partial(function, args, keywords):
            given = [inner(one) for one in args] + [f"{name}={inner(one)}" for name, one in keywords]
            return f"partial of {inner(function)} with {_several(given) or 'nothing'}"
        case Star(one):
            return "*" + inner(one)
        case DoubleStar(one):
            return "**" + inner(one)
        case SliceValue():
            return "slice"
        case Super(owner):
            return f"super of {owner.qualname}"
        case Term():
            return _term(value, ctx, nested)
    return str(value)


def show_place(place: Place) -> str:
    """A device in words."""
    if is_choice(place):
        return show_place(as_chosen(place)) + _under(conditions_of(place))
    if not isinstance(place, Term):
        return _PLACES.get(place, place)
    if place.op == EITHER:
        return " or ".join(show_place(one) + _under(guards) for guards, one in places_of(place))
    what = place.args[0] if place.args else None
    if what == "self":
        return "device of the module"
    told = show(what, nested=1) if what is not None else "unknown"
    return f"the device {told}" if place.op == "as_device" else f"device of {told}"


def row_of(site: Site | None) -> int | None:
    """The line of a site; None where the operation has no node that knows its line."""
    row = getattr(site.op.node, "lineno", None) if site is not None else None
    return row if isinstance(row, int) else None


def _tensor(value: Tensor) -> str:
    parts = [f"tensor @ {show_place(value.device)}"]
    if value.implicit:
        parts[0] += " (default)" if value.implicit == "default" else " (always)"
    if value.rank is not None:
        parts.append(f"rank {-value.rank} or more" if value.rank < 0 else f"rank {value.rank}")
    if value.follows:
        parts.append("moves with its module")
    if value.kept:
        parts.append(f"attribute {value.kept}")
    row = row_of(value.origin)
    if row is not None:
        parts.append(f"made on line {row}")
    return ", ".join(parts)


def _object(ref: Ref, ctx: Context | None, nested: int) -> str:
    rec: Rec | None = ctx.heap.get(ref) if ctx is not None else None
    if rec is None:
        return "object"
    if rec.kind in ("list", "dict", "generator"):
        items = [
            f"{show(of_key(key[1]), ctx, nested + 1)}: {show(content, ctx, nested + 1)}"
            if rec.kind == "dict" and isinstance(key, tuple)
            else show(content, ctx, nested + 1)
            for key, content in rec.items.items()
        ]
        return f"{rec.kind} of {_several(items)}" if items else f"empty {rec.kind}"
    if rec.kind == "frame":
        return "variables of a function"
    name = show(rec.cls, ctx, nested + 1).removeprefix("class ") if rec.cls is not None else ""
    place = rec.fields.get("@device")
    where = f" @ {show_place(place)}" if place is not None else ""
    row = row_of(rec.fields.get("@origin"))
    made = f", made on line {row}" if row is not None else ""
    return f"{rec.kind} {name}".rstrip() + where + made


# Open operations in words, by what they are about.
_WORDS = {
    "attribute": "{0}.{1}",
    "item": "{0}[{1}]",
    "held": "{0}[{1}] as it was before the store",
    "contains": "{0} in {1}",
    "earlier": "{0} in the turn before",
    "element": "element of {0}",
    "unpack": "part {1} of {0}",
    "is_none": "{0} is None",
    "isinstance": "isinstance({0}, {1})",
    "equal": "{0} == {1}",
    "not": "not {0}",
    "is_cuda": "{0} is on CUDA",
    "has": "{0} has {1}",
    "length": "len({0})",
    "no_tensor": "{0}, no tensor",
    "enter": "what {0} enters",
}


def _term(term: Term, ctx: Context | None, nested: int) -> str:
    """An open operation: what waits for a caller."""

    def inner(one: Any) -> str:
        return f"<tensor @ {show_place(one.device)}>" if isinstance(one, Tensor) else show(one, ctx, nested + 1)

    args = term.args
    if term.op in _WORDS:
        return _WORDS[term.op].format(*map(inner, args))
    match term.op:
        case "parameter":
            name = "enclosing variables" if args[1].startswith("@") else args[1]
            return name if nested else f"parameter {name}"
        case "undecided":
            asked = args[0].what
            return inner(asked) if isinstance(asked, Term) else "a test of which nothing is known"
        case "call":
            given = [inner(one) for one in args[1]] + [f"{name}={inner(one)}" for name, one in args[2]]
            return f"{inner(args[0])}({_several(given)})"
        case "binary":
            return f"{inner(args[1])} {_SIGNS.get(args[0], args[0])} {inner(args[2])}"
        case "moved":
            return f"{inner(args[0])}.to({show_place(args[1])})"
        case "own" | "device_of" | "as_device":
            return show_place(term)
        case "device_type":
            return f"type of {show_place(args[0])}"
        case "unknown" | "top":
            row = row_of(args[0]) if args and isinstance(args[0], Site) else None
            if term is UNKNOWN or row is None:
                return "unknown"
            return f"<unknown of line {row}>" if nested else f"unknown, from line {row}"
    return term.op


def _under(guards: frozenset[tuple[Term, bool]]) -> str:
    """The conditions of an alternative."""
    told = sorted(show(term, nested=1) if outcome else f"not {show(term, nested=1)}" for term, outcome in guards)
    return f" (if {' and '.join(told)})" if told else ""


def _several(told: list[str]) -> str:
    more = len(told) - _MOST_ITEMS
    return ", ".join(told[:_MOST_ITEMS]) + (f", and {more} more" if more > 0 else "")
