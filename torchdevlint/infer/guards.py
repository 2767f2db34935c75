"""Conditions under which values are had, and whether several can hold together: `mode == "train"` and `mode in ("test", "demo")` do not, nor do
`rank > 0` and `rank == -1`.

What a condition asks of a value that nobody knows is asked of witnesses: the constants that the conditions name, what lies beside and between them,
None, and a text that no condition names. Conditions that none of the witnesses meets exclude each other. A witness of which a condition would raise
meets it neither way: control would not come there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

from torchdevlint.infer.values import ALL, Const, Guard, Term, Tup, Value

_COMPARED = frozenset({"lt", "eq"})
_OF_TEXT: dict[str, Callable[[str, str], bool]] = {"startswith": str.startswith, "endswith": str.endswith}
_MOST = 1e15  # what is larger has no exact neighbours
_ANOTHER = "\0"  # a text that nobody names


def consistent(first: frozenset[Guard], second: frozenset[Guard]) -> bool:
    """False where a condition would have to come out both ways, where one value would have to be two, or where not all of several hold and yet each does."""
    if len(second) < len(first):
        first, second = second, first
    if not second.isdisjoint([(term, not outcome) for term, outcome in first]):
        return False
    if first and not may_hold_together(first, second):
        return False
    if not first:
        return True
    several = [term for guards in (first, second) for term, outcome in guards if not outcome and term.op == ALL]
    if several and not _may_hold(first | second, several):
        return False
    return all(
        _may_come_out(test, outcome, other)
        for one, other in ((first, second), (second, first))
        for test, outcome in one
        if test.op == "test"
    )


def _may_come_out(test: Term, outcome: bool, others: frozenset[Guard]) -> bool:
    """False where none of what a test asks for comes out so under other conditions: `args.mode or "cpu"` is no "gpu" where it is "cpu"."""
    for guards, one in test.args[0].options:
        if isinstance(one, Term):
            guards |= {(one, outcome)} if one.op != "not" else {(one.args[0], not outcome)}
        if not (isinstance(one, Const) and bool(one.value) is not outcome) and consistent(guards, others):
            return True
    return False


def _may_hold(guards: frozenset[Guard], several: list[Term]) -> bool:
    """False where, of several conditions that do not all hold, each does, or the only one that may fail does not fail for another such reason."""
    held = set(guards)
    left = [each_of(one) for one in several]
    while left:
        open_now = []
        for each in left:
            failing = _still_open(each - held, frozenset(held))
            if failing is None:
                continue
            if not failing:
                return False
            if len(failing) > 1:
                open_now.append(each)
                continue
            ((term, outcome),) = failing
            held.add((term, not outcome))
        if len(open_now) == len(left):
            return True
        left = open_now
    return True


def _still_open(several: frozenset[Guard], held: frozenset[Guard]) -> list[Guard] | None:
    """Of several conditions those that may fail under others; None where one of them does."""
    if any(
        (term, not outcome) in held or not may_hold_together(held, frozenset({(term, outcome)}))
        for term, outcome in several
    ):
        return None
    return [(term, outcome) for term, outcome in several if may_hold_together(held, frozenset({(term, not outcome)}))]


def not_all(guards: frozenset[Guard]) -> Guard:
    """What holds where not all of several conditions do."""
    return Term(ALL, *(term if outcome else Term("not", term) for term, outcome in sorted(guards, key=hash))), False


def may_hold_together(first: frozenset[Guard], second: frozenset[Guard]) -> bool:
    """False where what the ones ask of a value is nothing that the others leave of it."""
    asked, others = _by_subject(first), _by_subject(second)
    shared = asked.keys() & others.keys()
    return not shared or all(_is_possible(one, asked[one] | others[one]) for one in shared)


def outcome_of(term: Term, facts: frozenset[Guard]) -> bool | None:
    """How a condition comes out under others, where these leave one way alone."""
    possible = [way for way in (True, False) if may_hold_together(facts, frozenset({(term, way)}))]
    return possible[0] if len(possible) == 1 else None


@lru_cache(maxsize=10_000)
def each_of(several: Term) -> frozenset[Guard]:
    """The conditions that a term asks for all of."""
    return frozenset((term.args[0], False) if term.op == "not" else (term, True) for term in several.args)


@lru_cache(maxsize=50_000)
def _by_subject(guards: frozenset[Guard]) -> dict[Value, frozenset[Guard]]:
    """Conditions by the value that they are about, where it is one."""
    found: dict[Value, set[Guard]] = {}
    for guard in guards:
        for subject in _subjects(guard[0]):
            found.setdefault(subject, set()).add(guard)
    return {subject: frozenset(several) for subject, several in found.items()}


def _subjects(term: Term) -> Iterator[Value]:
    """The value that a condition is about; whether it is true at all tells something of its length as well."""
    if term.op == ALL:
        of_each = [tuple(_subjects(one)) for one, _ in each_of(term)]
        yield from of_each[0] if of_each and all(one == of_each[0] for one in of_each) else ()
        return
    asked = _asked(term)
    subject = asked[0] if asked is not None else term
    yield subject
    if asked is None:
        yield Term("length", subject)


def _asked(term: Term) -> tuple[Value, Callable[[Any], bool], tuple[Any, ...]] | None:
    """The value that a condition is about, what it asks of it, and the constants that it names."""
    args = term.args
    if term.op == "is_none":
        return args[0], lambda one: one is None, (None,)
    if term.op == "equal" and isinstance(args[1], Const):
        return args[0], lambda one: bool(one == args[1].value), (args[1].value,)
    if term.op == "contains" and isinstance(args[1], Tup) and all(isinstance(one, Const) for one in args[1].items):
        items = tuple(one.value for one in args[1].items if isinstance(one, Const))
        return args[0], lambda one: one in items, items
    if term.op == "binary" and args[0] in _COMPARED:
        return _compared(*args)
    if term.op == "call" and isinstance(args[0], Term) and args[0].op == "attribute" and len(args[1]) == 1:
        (text, name), (part,) = args[0].args, args[1]
        ask = _OF_TEXT.get(name)
        if ask is not None and isinstance(part, Const) and isinstance(part.value, str):
            return text, lambda one: ask(one, part.value), (part.value, part.value + _ANOTHER, _ANOTHER + part.value)
    return None


def _compared(operator: str, left: Value, right: Value) -> tuple[Value, Callable[[Any], bool], tuple[Any, ...]] | None:
    if isinstance(right, Const) and not isinstance(left, Const):
        known = right.value
        return left, (lambda one: bool(one == known)) if operator == "eq" else (lambda one: bool(one < known)), (known,)
    if isinstance(left, Const) and not isinstance(right, Const):
        known = left.value
        return (
            right,
            (lambda one: bool(known == one)) if operator == "eq" else (lambda one: bool(known < one)),
            (known,),
        )
    return None


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
    asked = _asked(term)
    return asked[1](one) if asked is not None else bool(one)


def _witnesses(subject: Value, guards: frozenset[Guard]) -> list[Any]:
    is_whole = isinstance(subject, Term) and (subject.op == "length" or subject.args[-1:] == ("__int__",))
    named = [one for term, _ in guards for one in _named(term)]
    numbers = sorted({one for one in named if isinstance(one, (int, float)) and abs(one) < _MOST} | {0})
    beside = [one + step for one in numbers for step in (-1, 1)]
    between = [] if is_whole else [(one + other) / 2 for one, other in pairwise(numbers)]
    counted = [*numbers, *beside, *between]
    if is_whole:
        return [one for one in counted if one >= 0 or subject.op != "length"]  # type: ignore[union-attr]
    return [*named, *counted, None, "", _ANOTHER]


def _named(term: Term) -> tuple[Any, ...]:
    if term.op == ALL:
        return tuple(one for each, _ in each_of(term) for one in _named(each))
    asked = _asked(term)
    return asked[2] if asked is not None else ()
