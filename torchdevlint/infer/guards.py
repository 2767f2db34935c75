"""Conditions under which values are had, and whether several can hold together."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from torchdevlint.infer.values import ALL, Const, Guard, Term, Tup, Value


def consistent(first: frozenset[Guard], second: frozenset[Guard]) -> bool:
    """False where a condition would have to come out both ways, where one value would have to be two, or where not all of several hold and yet each does."""
    if len(second) < len(first):
        first, second = second, first
    if not second.isdisjoint([(term, not outcome) for term, outcome in first]):
        return False
    if first and (choices(first) or choices(second)) and _is_nothing_left(first | second):
        return False
    several = [term for guards in (first, second) for term, outcome in guards if not outcome and term.op == ALL]
    return not (several and first) or _may_hold(first | second, several)


def _is_nothing_left(guards: frozenset[Guard]) -> bool:
    """True where a value is one of several constants, and no one of them fits all conditions: `mode == "train"`, and `mode in ("test", "demo")`."""
    return any(not fitting for fitting in choices(guards).values())


@lru_cache(maxsize=20_000)
def choices(guards: frozenset[Guard]) -> dict[Value, list[Const]]:
    """The constants that a value may be, where some conditions hold that say it is one of several."""
    found: dict[Value, list[Const]] = {}
    for term, outcome in guards:
        equal = [term] if outcome else [one for one, held in each_of(term) if not held] if term.op == ALL else []
        asked = {one.args[0] for one in equal if one.op in ("equal", "contains")}
        several = [each for one in equal if one.op in ("equal", "contains") for each in _named_in(one)]
        if len(asked) == 1 and (outcome or len(equal) == len(term.args)) and None not in several:
            found[asked.pop()] = [one for one in several if one is not None]
    return {
        value: [
            one for one in several if all(outcome_of(term, value, one) in (outcome, None) for term, outcome in guards)
        ]
        for value, several in found.items()
    }


def _named_in(term: Term) -> list[Const | None]:
    """The constants to one of which a value is equal."""
    several = term.args[1].items if term.op == "contains" and isinstance(term.args[1], Tup) else (term.args[1],)
    return [
        one if isinstance(one, Const) and (term.op == "equal" or one is not term.args[1]) else None for one in several
    ]


def outcome_of(term: Term, value: Value, known: Const) -> bool | None:
    """How a condition comes out where a value is a constant; None where that does not tell."""
    asked = term.args[0] if term.args else None
    if term.op == "equal" and asked == value and isinstance(term.args[1], Const):
        return bool(known.value == term.args[1].value)
    if term.op == "contains" and asked == value and isinstance(term.args[1], Tup):
        items = term.args[1].items
        is_within = any(isinstance(one, Const) and one.value == known.value for one in items)
        return True if is_within else False if all(isinstance(one, Const) for one in items) else None
    if term.op == "call" and isinstance(asked, Term) and asked.op == "attribute" and asked.args[0] == value:
        ask = _OF_TEXT.get(asked.args[1])
        part = term.args[1][0] if len(term.args[1]) == 1 else None
        if ask is not None and isinstance(known.value, str) and isinstance(part, Const) and isinstance(part.value, str):
            return ask(known.value, part.value)
    return None


_OF_TEXT: dict[str, Callable[[str, str], bool]] = {"startswith": str.startswith, "endswith": str.endswith}


def _may_hold(guards: frozenset[Guard], several: list[Term]) -> bool:
    """False where, of several conditions that do not all hold, each does, or the only one that may fail does not fail for another such reason."""
    held = set(guards)
    left = [each_of(one) for one in several]
    while left:
        open_now = []
        for each in left:
            failing = each - held
            if not failing:
                return False
            if any((term, not outcome) in held for term, outcome in failing):
                continue
            if len(failing) > 1:
                open_now.append(each)
                continue
            ((term, outcome),) = failing
            held.add((term, not outcome))
        if len(open_now) == len(left):
            return True
        left = open_now
    return True


@lru_cache(maxsize=10_000)
def each_of(several: Term) -> frozenset[Guard]:
    """The conditions that a term asks for all of."""
    return frozenset((term.args[0], False) if term.op == "not" else (term, True) for term in several.args)


def not_all(guards: frozenset[Guard]) -> Guard:
    """What holds where not all of several conditions do."""
    return Term(ALL, *(term if outcome else Term("not", term) for term, outcome in sorted(guards, key=hash))), False
