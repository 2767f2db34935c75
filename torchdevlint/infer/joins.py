"""The join of values: what something may be, each under its conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchdevlint.infer.guards import consistent, not_all
from torchdevlint.infer.values import (
    NO_GUARDS,
    NO_TENSOR,
    NONE,
    UNKNOWN,
    UNKNOWN_TEXT,
    Array,
    Cls,
    Const,
    Guard,
    OneOf,
    Ref,
    Star,
    Tensor,
    Term,
    Text,
    Tup,
    Value,
    array,
    at_least,
    least,
    options_of,
)

MOST_ALTERNATIVES = 5
_MOST_CONSTANTS = 12  # names of attributes, keys: they cost little
_MOST_CALLS = 12  # alternatives of calls that wait for a caller, who decides between them
_MOST_MODELS = 2  # of more objects than that: each is called


def one_of(options: Iterator[tuple[frozenset[Guard], Value]] | list[tuple[frozenset[Guard], Value]]) -> Value:
    """The join of guarded values. What is equal is told once, under what all its guards share.

    An alternative of which nothing is known is kept: no claim of the others is certain then.
    """
    found: dict[Value, frozenset[Guard]] = {}
    ruled_out: dict[Value, frozenset[Guard]] = {}
    ways: dict[Value, list[frozenset[Guard]]] = {}  # each, of what was told more than once
    for guards, value in options:
        if type(value) is not OneOf:
            count = len(found)
            known = found.setdefault(value, guards)
            if len(found) == count:
                found[value] = known & guards
                ways.setdefault(value, [known]).append(guards)
            continue
        for inner, option in value.options:
            kept = found if not inner or consistent(guards, inner) else ruled_out  # a condition comes out one way
            both = guards | inner if inner else guards
            told = kept.get(option)
            kept[option] = both if told is None else told & both
            if told is not None and kept is found:
                ways.setdefault(option, [told]).append(both)
    found = found or ruled_out
    if len(found) == 1:
        return next(iter(found))
    if len(found) > 1:
        _join_tensors(found, ways)
    if len(found) > 1 and NONE in found:
        _join_none(found, ways)
    if 1 < len(found) <= _MOST_TOLD_APART and ways:
        _tell_apart(found, ways)
    if len(found) > MOST_ALTERNATIVES:
        _join_texts(found)
        _join_origins(found)
        _join_tuples(found)
    if len(found) == 1:
        return next(iter(found))
    if len(found) > MOST_ALTERNATIVES and not (
        (len(found) <= _MOST_CONSTANTS and all(type(one) is Const for one in found))
        or (len(found) <= _MOST_CALLS and all(type(one) is Term and one.op == "call" and one.waits for one in found))
    ):
        several = [(guards, value) for value, guards in found.items()]
        kinds = [one for one in several if isinstance(one[1], Tensor)] or _of_objects(several)
        return OneOf((*kinds[: MOST_ALTERNATIVES - 1], (NO_GUARDS, UNKNOWN))) if kinds else UNKNOWN
    return OneOf(tuple(zip(found.values(), found, strict=True)))


_MOST_TOLD_APART = 4  # values


def _of_objects(several: list[tuple[frozenset[Guard], Value]]) -> list[tuple[frozenset[Guard], Value]]:
    """The options, where all that are known are objects: `if name == "vgg": net = VGG()`, and so on for each model that there is, or their classes. The
    first ones stand for all.
    """
    known = [option for option in several if isinstance(option[1], (Ref, Cls)) or option[1] == NONE]
    others = (value for _, value in several if not isinstance(value, (Ref, Cls)) and value != NONE)
    return known[:_MOST_MODELS] if all(isinstance(one, Term) and one.op == "unknown" for one in others) else []


def _tell_apart(found: dict[Value, frozenset[Guard]], ways: dict[Value, list[frozenset[Guard]]]) -> None:
    """Of a few values one holds under several conditions that those of another rule out: `if a and b: x = y`."""
    before = dict(found)
    for value, several in ways.items():
        for other, guards in before.items() if value in found else ():
            if other is not value and len(guards) > 1 and not any(consistent(one, guards) for one in several):
                found[value] |= {not_all(guards)}


def _join_none(found: dict[Value, frozenset[Guard]], ways: dict[Value, list[frozenset[Guard]]]) -> None:
    """None where a value is None, and else that value, is the value."""
    for term, outcome in found[NONE]:
        if term.op == "is_none" and outcome and term.args[0] in found:
            found[term.args[0]] &= found.pop(NONE)
            ways.pop(NONE, None)
            ways.pop(term.args[0], None)
            return


def _join_origins(found: dict[Value, frozenset[Guard]]) -> None:
    """Of many parameters that differ in where they were made alone, as those of a model do, the first stands for all."""
    first: dict[Any, Tensor] = {}
    for one in [one for one in found if isinstance(one, Tensor) and one.follows]:
        key = one.device, one.rank, one.implicit, one.kept
        standing = first.setdefault(key, one)
        if standing is not one:
            found[standing] &= found.pop(one)


def _join_tuples(found: dict[Value, frozenset[Guard]]) -> None:
    """Of many tuples with the same first items, as one has that grows in a loop, it is known that others may stand behind those."""
    alike: dict[Value, list[Tup]] = {}
    for one in found:
        if isinstance(one, Tup) and one.items and not isinstance(one.items[0], Star):
            alike.setdefault(one.items[0], []).append(one)
    for several in alike.values():
        if len(several) > 1:
            columns = list(zip(*(one.items for one in several), strict=False))
            same = next((at for at, column in enumerate(columns) if len(set(column)) > 1), len(columns))
            others = dict.fromkeys(item for one in several for item in one.items[same:])
            guards = frozenset.intersection(*(found.pop(one) for one in several))
            found[Tup((*several[0].items[:same], Star(Tup(tuple(others)))))] = guards


def _join_texts(found: dict[Value, frozenset[Guard]]) -> None:
    """Of too many texts it is known that they are texts."""
    texts = [value for value in found if isinstance(value, Text)]
    if len(texts) > 1:
        found[UNKNOWN_TEXT] = frozenset.intersection(*(found.pop(text) for text in texts))


def _join_tensors(found: dict[Value, frozenset[Guard]], ways: dict[Value, list[frozenset[Guard]]]) -> None:
    """Tensors of one place and origin are one, of a rank that holds for both; so are arrays."""
    tensors: list[Tensor] = []
    arrays: list[Array] = []
    for value in tuple(found):
        if type(value) is Tensor:
            tensors.append(value)
        elif type(value) is Array:
            arrays.append(value)
        elif type(value) is Term and value.op == NO_TENSOR and value.args[0] in found:
            told = ways.pop(value, [found[value]])
            ways.setdefault(value.args[0], [found[value.args[0]]]).extend(told)
            found[value.args[0]] &= found.pop(value)  # what it is if it is no tensor, and what it is
    if len(arrays) > 1:
        guards = frozenset.intersection(*(found.pop(one) for one in arrays))
        found[array(at_least(min(least(one.rank) for one in arrays)))] = guards
    if len(tensors) < 2:
        return
    alike: dict[tuple[Any, ...], list[Tensor]] = {}
    for value in tensors:
        is_number = value.rank == 0 and any(
            term.waits for term, _ in found[value]
        )  # on a condition that a caller knows
        alike.setdefault((value.device, value.origin, value.implicit, value.kept, is_number), []).append(value)
    for first, *others in alike.values():
        if not others:
            continue
        both, guards = first, found.pop(first)
        told = ways.pop(first, [guards])
        for value in others:
            told += ways.pop(value, [found[value]])
            rank = both.rank if both.rank == value.rank else at_least(min(least(both.rank), least(value.rank)))
            like = both.like if both.like == value.like else None
            is_asked = isinstance(both.device, Term) and both.device.op == "device_of"  # then its rank is asked with it
            if like is not both.like and not is_asked and rank is not None and rank < 0:
                rank = at_least(least(rank) - 1)
            both = Tensor(
                both.device, rank, both.origin, both.implicit, both.follows and value.follows, both.kept, like=like
            )
            guards &= found.pop(value)
        found[both], ways[both] = guards, told


def join(*values: Value) -> Value:
    """Any of the values."""
    if len(values) == 1:
        return values[0]
    return one_of([(NO_GUARDS, value) for value in values])


def lift(function: Callable[[Value], Value], value: Value) -> Value:
    """A function of each alternative; None is none of them, as nothing can be asked of it."""
    if not isinstance(value, OneOf):
        return function(value)
    return one_of([(guards, function(option)) for guards, option in value.options if option != NONE])


def for_each(function: Callable[[Value], Value], value: Value) -> Value:
    """A function of each alternative, None among them."""
    return one_of([(guards, function(option)) for guards, option in options_of(value)])
