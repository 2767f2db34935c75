"""Items that a list or dict has on some paths alone: `if flag: items.append(x)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchdevlint.infer.guards import consistent
from torchdevlint.infer.joins import one_of
from torchdevlint.infer.values import FALSE, TRUE, Const, Guard, Rec, Tup, Value, options_of

PRESENT = ".@present"  # the field: for each item that may be lacking, whether it is there
_MOST_WAYS = 8  # in which a container may be filled
_Guards = frozenset[Guard]


def marks(rec: Rec) -> dict[Any, Value]:
    """Of the items that may be lacking, by their fields, whether they are there."""
    told = rec.fields.get(PRESENT)
    pairs = [one.items for one in told.items if isinstance(one, Tup)] if isinstance(told, Tup) else []
    found = {("k", key.value): there for key, there in pairs if isinstance(key, Const)}
    return {key: there for key, there in found.items() if key in rec.fields}


def with_marks(fields: dict[Any, Any], told: dict[Any, Value]) -> dict[Any, Any]:
    """The fields of a container with what is known of its items: one that is surely there needs no mark, one that surely is not goes."""
    left = {key: one for key, one in fields.items() if key != PRESENT and told.get(key) != FALSE}
    open_ones = [Tup((Const(key[1]), there)) for key, there in told.items() if there not in (TRUE, FALSE)]
    return {**left, PRESENT: Tup(tuple(open_ones))} if open_ones else left


def joined(recs: list[tuple[_Guards, Rec]], lacking: Value) -> dict[Any, Value]:
    """Whether items are there where several paths meet. `lacking`: what it says of an item that one path has not put in."""
    each = [(guards, rec.fields, marks(rec)) for guards, rec in recs]
    keys = dict.fromkeys(key for _, fields, _ in each for key in fields if isinstance(key, tuple))
    return {
        key: one_of([(guards, told.get(key, TRUE) if key in fields else lacking) for guards, fields, told in each])
        for key in keys
        if any(key not in fields or key in told for _, fields, told in each)
    }


def without_mark(rec: Rec, key: Any) -> Rec:
    """The same container once an item was put in: it is there. Where it may have gone anywhere, nobody knows any more which are."""
    told = {} if key == "*" and rec.kind == "list" else {one: there for one, there in marks(rec).items() if one != key}
    return Rec(rec.kind, rec.cls, with_marks(rec.fields, told))


def ways(rec: Rec, facts: _Guards) -> list[tuple[_Guards, dict[Any, Value]]] | None:
    """The items that a container has, each time under its conditions; None where there are too many. `facts` hold."""
    told = marks(rec)
    keys = [key for key in rec.fields if isinstance(key, tuple)]
    found: list[tuple[_Guards, dict[Any, Value]]] = [(frozenset(), {})]
    for key in sorted(keys, key=_position) if rec.kind == "list" else keys:
        here = list(_outcomes(told[key], facts)) if key in told else _SURE
        found = [
            (guards | own, {**held, key: rec.fields[key]} if outcome else held)
            for guards, held in found
            for own, outcome in here
            if consistent(guards, own)
        ]
        if len(found) > _MOST_WAYS:
            return None
    return found


def _position(key: tuple[Any, ...]) -> float:
    """Where an item of a list stands; what has a name, as in a parameter list, stands behind."""
    return key[1] if isinstance(key[1], int) else float("inf")


_SURE: list[tuple[_Guards, bool]] = [(frozenset(), True)]


def _outcomes(there: Value, facts: _Guards) -> Iterator[tuple[_Guards, bool]]:
    for guards, one in options_of(there):
        if consistent(guards, facts):
            if one != FALSE:
                yield guards, True
            if one != TRUE:
                yield guards, False


def is_there(rec: Rec, key: Any, facts: _Guards) -> Value:
    """Whether an item that may be lacking is there: a condition."""
    return one_of([(guards, Const(outcome)) for guards, outcome in _outcomes(marks(rec)[key], facts)])
