"""Conditions under which values are had, and whether several can hold together: `mode == "train"` and `mode in ("test", "demo")` do not, nor do
`rank > 0` and `rank == -1`.

What a condition asks of a value that nobody knows is asked of witnesses: the constants that the conditions name, numbers beside and between them,
None, and texts that begin or end as those that are named and are none of them. Conditions that none of the witnesses meets exclude each other.
A witness of which a condition would raise meets it neither way: control would not come there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from torchdevlint.infer.values import ALL, Const, Guard, Term, Value

_OF_TEXT: dict[str, Callable[[str, str], bool]] = {"startswith": str.startswith, "endswith": str.endswith}
_MOST = 1e15  # what is larger has no exact neighbours
_ANOTHER = "\0"  # a text that nobody names
# What a caller or the user gives; where it is true at all, it has a length.
_SIZED = frozenset({"attribute", "item", "parameter"})


class _Digest(NamedTuple):
    """Of conditions: their opposites, what they compare with constants, what else they say something about, and those of which each is several."""

    opposites: frozenset[Guard]
    subjects: frozenset[Value]
    about: frozenset[Value]
    not_all: tuple[Term, ...]
    tests: tuple[Guard, ...]


@lru_cache(maxsize=200_000)
def _digest(guards: frozenset[Guard]) -> _Digest:
    terms = [term for term, _ in guards]
    subjects = frozenset([term.subject for term in terms if term.subject is not None])
    return _Digest(
        frozenset([(term, not outcome) for term, outcome in guards]),
        subjects,
        subjects.union(*map(_topics, terms)),
        tuple([term for term, outcome in guards if not outcome and term.op == ALL]),
        tuple([guard for guard in guards if guard[0].op == "test"]),
    )


def _topics(term: Term) -> tuple[Term, ...]:
    """What a condition says something about by being true, beside its subject."""
    return (term, Term("length", term)) if term.op in _SIZED else (term,)


def consistent(first: frozenset[Guard], second: frozenset[Guard]) -> bool:
    """False where a condition would have to come out both ways, where one value would have to be two, or where not all of several hold and yet each does."""
    if not first or not second:
        return True
    one, other = _digest(first), _digest(second)
    if not _fit(first, second, one, other):
        return False
    return not (one.tests or other.tests) or (
        all(_may_come_out(*test, second) for test in one.tests)
        and all(_may_come_out(*test, first) for test in other.tests)
    )


def _fit(first: frozenset[Guard], second: frozenset[Guard], one: _Digest, other: _Digest) -> bool:
    """The same, but for the alternatives of a test."""
    if not second.isdisjoint(one.opposites):
        return False
    is_shared = not (one.subjects.isdisjoint(other.about) and other.subjects.isdisjoint(one.about))
    if is_shared and not _agree(first, second):
        return False
    return not (one.not_all or other.not_all) or _may_hold(first | second, [*one.not_all, *other.not_all])


def _may_be_together(first: frozenset[Guard], second: frozenset[Guard]) -> bool:
    return not first or not second or _fit(first, second, _digest(first), _digest(second))


@lru_cache(maxsize=50_000)
def _may_come_out(test: Term, outcome: bool, others: frozenset[Guard]) -> bool:
    """False where none of what a test asks for comes out so under other conditions: `args.mode or "cpu"` is no "gpu" where it is "cpu"."""
    asked = _digest(others).tests
    return any(
        _may_be_together(ways, others)
        and all(any(_may_be_together(ways, each) for each in _ways(*guard)) for guard in asked)
        for ways in _ways(test, outcome)
    )


@lru_cache(maxsize=50_000)
def _ways(test: Term, outcome: bool) -> list[frozenset[Guard]]:
    """The conditions under which alternatives of a test come out one way."""
    several = []
    for guards, one in test.args[0].options:
        if isinstance(one, Term):
            several.append(guards | {(one.args[0], not outcome) if one.op == "not" else (one, outcome)})
        elif not isinstance(one, Const) or bool(one.value) is outcome:
            several.append(guards)
    return several


def _may_hold(held: frozenset[Guard], several: list[Term]) -> bool:
    """False where, of several conditions that do not all hold, each does, or the only one that may fail does not fail for another such reason."""
    left = [each_of(one) for one in several]
    while left:
        open_now = []
        for each in left:
            failing = _still_open(each - held, held)
            if failing is None:
                continue
            if not failing:
                return False
            if len(failing) > 1:
                open_now.append(each)
                continue
            ((term, outcome),) = failing
            held |= {(term, not outcome)}
        if len(open_now) == len(left):
            return True
        left = open_now
    return True


def _still_open(several: frozenset[Guard], held: frozenset[Guard]) -> list[Guard] | None:
    """Of several conditions those that may fail under others; None where one of them does."""
    left = []
    for term, outcome in several:
        found = not outcome if (term, not outcome) in held else outcome_of(term, held)
        if found is None:
            left.append((term, outcome))
        elif found is not outcome:
            return None
    return left


def not_all(guards: frozenset[Guard]) -> Guard:
    """What holds where not all of several conditions do."""
    return Term(ALL, *(term if outcome else Term("not", term) for term, outcome in sorted(guards, key=hash))), False


@lru_cache(maxsize=100_000)
def _agree(first: frozenset[Guard], second: frozenset[Guard]) -> bool:
    """False where what the ones ask of a value is nothing that the others leave of it."""
    one, other = _digest(first), _digest(second)
    shared = (one.subjects & other.about) | (other.subjects & one.about)
    return all(_is_possible(each, _about(each, first) | _about(each, second)) for each in shared)


def _about(subject: Value, guards: frozenset[Guard]) -> frozenset[Guard]:
    counted = subject.args[0] if isinstance(subject, Term) and subject.op == "length" else None
    return frozenset(
        guard for guard in guards if guard[0].subject == subject or guard[0] == subject or guard[0] == counted
    )


def outcome_of(term: Term, facts: frozenset[Guard]) -> bool | None:
    """How a condition comes out under others, where these leave one way alone."""
    known = _digest(facts)
    if term.subject not in known.about and known.subjects.isdisjoint(_topics(term)):
        return None
    possible = [way for way in (True, False) if _agree(facts, frozenset({(term, way)}))]
    return possible[0] if len(possible) == 1 else None


@lru_cache(maxsize=10_000)
def each_of(several: Term) -> frozenset[Guard]:
    """The conditions that a term asks for all of."""
    return frozenset((term.args[0], False) if term.op == "not" else (term, True) for term in several.args)


def _asked(term: Term) -> tuple[Callable[[Any], bool], tuple[Any, ...]]:
    """What a condition asks of its subject, and the constants that it names."""
    args = term.args
    if term.op == "is_none":
        return lambda one: one is None, (None,)
    if term.op == "equal":
        return lambda one: bool(one == args[1].value), (args[1].value,)
    if term.op == "contains":
        items = tuple(one.value for one in args[1].items)
        return lambda one: one in items, items
    if term.op == "call":
        ask, part = _OF_TEXT[args[0].args[1]], str(args[1][0].value)
        return lambda one: ask(one, part), (part,)
    operator, left, right = args
    is_turned = isinstance(left, Const)
    known = (left if is_turned else right).value
    if operator == "eq":
        return lambda one: bool(one == known), (known,)
    return (lambda one: bool(known < one)) if is_turned else (lambda one: bool(one < known)), (known,)


@lru_cache(maxsize=50_000)
def _is_possible(subject: Value, guards: frozenset[Guard]) -> bool:
    return any(all(_meets(subject, guard, one) for guard in guards) for one in _witnesses(subject, guards))


def _meets(subject: Value, guard: Guard, one: Any) -> bool:
    try:
        return _comes_out(subject, guard[0], one) is guard[1]
    except TypeError:  # nothing of this kind comes so far: `None < 0`
        return False


def _comes_out(subject: Value, term: Term, one: Any) -> bool:
    if term.op == ALL:
        return all(_comes_out(subject, each, one) is outcome for each, outcome in each_of(term))
    return _asked(term)[0](one) if term.subject is not None else bool(one)


def _witnesses(subject: Value, guards: frozenset[Guard]) -> list[Any]:
    is_whole = isinstance(subject, Term) and (subject.op == "length" or subject.args[-1:] == ("__int__",))
    named = [one for term, _ in guards for one in _named(term)]
    numbers = sorted({one for one in named if isinstance(one, (int, float)) and abs(one) < _MOST} | {0})
    beside = [one + step for one in numbers for step in (-1, 1)]
    between = [] if is_whole else [(one + other) / 2 for one, other in pairwise(numbers)]
    counted = [*numbers, *beside, *between]
    if is_whole:
        return [one for one in counted if one >= 0 or subject.op != "length"]  # type: ignore[union-attr]
    texts = ["", *(one for one in named if isinstance(one, str))]
    return [*named, *counted, None, "", *(first + _ANOTHER + second for first in texts for second in texts)]


def _named(term: Term) -> tuple[Any, ...]:
    if term.op == ALL:
        return tuple(one for each, _ in each_of(term) for one in _named(each))
    return _asked(term)[1] if term.subject is not None else ()
