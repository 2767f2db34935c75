"""The state at a point of a body: what names hold, the heap, and the conditions that every path to here has passed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from torchdevlint.infer.guards import each_of, not_all
from torchdevlint.infer.joins import join, one_of
from torchdevlint.infer.presence import PRESENT, joined, with_marks
from torchdevlint.infer.values import (
    ALL,
    DATA,
    EITHER,
    FALSE,
    HOST,
    NOTHING,
    TRUE,
    UNMOVED,
    Const,
    Ext,
    Guard,
    Place,
    Rec,
    Ref,
    Sort,
    Tensor,
    Term,
    Value,
    device_at,
    is_elsewhere,
    options_of,
    place_in,
    places_of,
)
from torchdevlint.program import ir
from torchdevlint.program.tables import unlike

Env = dict[str, Value]
Heap = dict[Any, Rec]
Facts = frozenset[Guard]

NO_FACTS: Facts = frozenset()
PLACED = "@placed"  # where something unknown was moved: there it is if it is a module, which a call of it shows
OF_DATA = "@data"  # where `x.data = value` has brought a tensor, which is known by where it was made
EARLIER = "earlier"  # the operation of a term: what a condition was in the turn before
FIRST = "first"  # the operation of a term: whether a turn of a loop is the first one
LEFT = "@left"  # the move that has brought a module to the CPU, on one path at least
FILLED = "filled"  # the state that an optimizer has loaded, where it is
AS_IT_WAS = Sort("as it was")  # ... where it was not
RENEWED = "@renewed"  # what each value of a dict, which a loop goes through, was replaced with
CELL = "@cell"  # what is known of the item under a key that is a variable, for as long as that is bound to the same
COLLATED = ".@collated"  # the function by which a loader made its batches: another one may be set afterwards
# A widening: behind so many conditions (a long chain of `elif`) no more are kept. What is not kept proves nothing.
MOST_FACTS = 64
_NOT_ASKED = frozenset({ALL, FIRST, "trained"})  # what no `and` of the code asks
_MOST_TESTED = 6  # conditions of one `and`


class State(NamedTuple):
    """What holds when control comes to a block along one edge."""

    env: Env
    heap: Heap
    facts: Facts


def of_turn(body: ir.Body, header: int, state: State, *, is_first: bool) -> State:
    """A state that comes into a loop, from outside or from the turn before."""
    asked = Term(FIRST, body, header)
    facts = state.facts - {(asked, not is_first)} | {(asked, is_first)}
    return state._replace(facts=facts)


def asked(guards: Facts) -> Facts:
    """The conditions that the code asks: which turn of a loop it is, is none of them."""
    return frozenset(guard for guard in guards if guard[0].op != FIRST)


def join_states(states: list[State]) -> State:
    """What holds when control may have come along any of the edges."""
    if len(states) == 1:
        return State(dict(states[0].env), dict(states[0].heap), states[0].facts)
    guards = _splitting(states)
    facts = frozenset.intersection(*(state.facts for state in states))
    if len(states) <= _MOST_TESTED:
        facts |= _not_all(sorted((state.facts - facts for state in states), key=len))
    return State(
        _join_envs([state.env for state in states], guards),
        join_heaps([state.heap for state in states], guards),
        facts,
    )


def _not_all(ways: list[Facts]) -> Facts:
    """Where `if a and b:` does not go: without `a`, or with `a` and without `b`, which is without one of the two."""
    held: Facts = NO_FACTS
    for own in ways:
        failed = own - held
        if len(failed) != 1 or not held <= own:
            return NO_FACTS
        ((term, outcome),) = failed
        if (term, outcome) in held or term.op in _NOT_ASKED or DATA in term.args:
            return NO_FACTS
        held |= {(term, not outcome)}
    return frozenset({not_all(held)})


def _splitting(states: list[State]) -> list[Facts]:
    """For each state, its facts whose opposite another one has: they tell the states apart. So does what each turn of a loop decides anew."""
    held = Counter(fact for state in states for fact in state.facts)
    guards = [
        frozenset(
            (term, outcome)
            for term, outcome in state.facts
            if held[term, not outcome] > ((term, not outcome) in state.facts)
            or (held[term, outcome] < len(states) and DATA in term.args)
        )
        for state in states
    ]
    several = [term for term, outcome in held if term.op == ALL and not outcome and held[term, outcome] < len(states)]
    for term in several:
        each = each_of(term)
        have_all = [each <= state.facts for state in states]
        if any(have_all):
            told = [
                each if has_all else state.facts & {(term, False)}
                for has_all, state in zip(have_all, states, strict=True)
            ]
            guards = [guard | more for guard, more in zip(guards, told, strict=True)]
    return guards


def _join_envs(envs: list[Env], guards: list[Facts]) -> Env:
    out = dict(envs[0])
    for name in unlike(envs):
        out[name] = one_of([(guard, env[name]) for guard, env in zip(guards, envs, strict=True) if name in env])
    return out


def join_heaps(heaps: list[Heap], guards: list[Facts]) -> Heap:
    """What objects hold when one of the heaps is theirs, each under its conditions."""
    out = dict(heaps[0])
    for place in unlike(heaps):
        recs = [(guard, heap[place]) for guard, heap in zip(guards, heaps, strict=True) if place in heap]
        first = recs[0][1]
        is_overlay = first.kind == "overlay"
        if all(rec is first for _, rec in recs) and (len(recs) == len(heaps) or not is_overlay):
            out[place] = first
            continue
        if is_overlay:  # on the other paths it is as it came
            recs += [(guard, Rec("overlay")) for guard, heap in zip(guards, heaps, strict=True) if place not in heap]
        out[place] = Rec(first.kind, first.cls, _join_fields(place, recs, is_overlay, heaps))
    return out


def of_each_class(options: list[tuple[Facts, Value]], heaps: list[Heap]) -> list[tuple[Facts, Value]]:
    """Of the layers of a library in a list, one of each class and device: `layers.append(nn.Conv2d(...))` in two branches of a loop adds one thing."""
    found: dict[object, tuple[Facts, Value]] = {}
    for guards, value in options:
        for inner, one in options_of(value):
            rec = next((heap[one] for heap in heaps if one in heap), None) if isinstance(one, Ref) else None
            is_layer = rec is not None and rec.kind == "module" and isinstance(rec.cls, Ext)
            kind = (rec.cls, rec.fields.get("@device")) if is_layer and rec is not None else one
            known = found.get(kind)
            found[kind] = (guards | inner, one) if known is None else (known[0] & (guards | inner), known[1])
    return list(found.values())


def _join_fields(place: Any, recs: list[tuple[Facts, Rec]], is_overlay: bool, heaps: list[Heap]) -> dict[Any, Any]:
    fields = dict(recs[0][1].fields)
    for key in unlike([rec.fields for _, rec in recs]):
        if key == PRESENT:
            continue
        if key == CELL:
            cell = _joined_cell(recs, is_overlay)
            fields = {name: one for name, one in fields.items() if name != CELL} | ({CELL: cell} if cell else {})
            continue
        mine = [(guard, rec.fields[key]) for guard, rec in recs if key in rec.fields]
        if isinstance(key, str) and key.startswith("@"):  # what a turn moves is moved, whichever turn it is
            mine = [(asked(guard), one) for guard, one in mine]
        if len(mine) < len(recs) and key == RENEWED:
            mine = [(guard, one) for guard, value in mine if (one := if_moved(value)) != NOTHING]
            mine += [(guard, AS_IT_WAS) for guard, rec in recs if mine and guard and key not in rec.fields]
        is_lacking = len(mine) < len(recs)
        if not mine or (is_lacking and key == PLACED and all(value == HOST for _, value in mine)):
            fields.pop(key, None)  # that something unknown was moved to the CPU is no help where one path lacks it
        elif key in ("@device", PLACED) and (not is_lacking or is_overlay):
            stays: list[tuple[Facts, Place]] = [(asked(guard), UNMOVED) for guard, rec in recs if key not in rec.fields]
            fields[key] = _joined_place(mine + stays)
        elif key == RENEWED:
            fields[key] = one_of(mine)
        elif isinstance(key, str) and key.startswith("@"):
            fields[key] = joined_mark([value for _, value in mine])
        else:
            mine = of_each_class(mine, heaps) if key == "*" else mine
            if is_overlay:
                old = old_field(place, key)
                mine += [(guard, old) for guard, rec in recs if key not in rec.fields]
            fields[key] = _joined_part(one_of(mine)) if recs[0][1].kind == "module" else one_of(mine)
    if recs[0][1].kind in ("list", "dict"):
        # Behind a loop its turns are done.
        is_of_turns = any(term.op == FIRST for guards, _ in recs for term, _ in guards)
        fields = with_marks(fields, joined(recs, TRUE if is_of_turns else FALSE))
    return fields


def _joined_cell(recs: list[tuple[Facts, Rec]], is_overlay: bool) -> Cell | None:
    """The item under one variable, on every path; where nothing is known of this very item, it is any of the container."""
    cells: list[Cell | None] = [rec.fields.get(CELL) for _, rec in recs]
    known = next(cell for cell in cells if cell is not None)
    several: list[tuple[Facts, Value]] = []
    for (guards, rec), cell in zip(recs, cells, strict=True):
        if cell is not None and (cell.body, cell.name) != (known.body, known.name):
            return None
        if cell is not None or is_overlay:
            several.append((guards, known.before if cell is None else cell.value))
        else:
            items = rec.items.values()
            if not items:
                return None
            several.append((guards, join(*items)))
    return Cell(known.body, known.name, known.before, one_of(several))


def _joined_part(value: Value) -> Value:
    """The parameter or buffer of a module that was moved on some paths, where no condition tells them apart: as its module, it is where it was moved to."""
    options = options_of(value)
    parts = [(guards, one) for guards, one in options if isinstance(one, Tensor) and one.follows]
    if all(guards or one.device == HOST for guards, one in parts):
        return value
    left = [option for option in parts if option[1].device == HOST]
    return one_of([option for option in options if option not in left])


def if_moved(value: Value) -> Value:
    """What of a value is where somebody has moved it; of what is open, a caller tells."""
    several = [(guards, Term("if_moved", one) if _may_be_moved(one) else one) for guards, one in options_of(value)]
    return one_of([(guards, one) for guards, one in several if is_moved(one) or (one == AS_IT_WAS and guards)])


def renewal(value: Value) -> Value:
    """What items were replaced with, without the conditions under which they were not."""
    return one_of([(guards, one) for guards, one in options_of(value) if one != AS_IT_WAS])


def as_moved(value: Value) -> Value:
    """What `if_moved` has left to a caller, for who uses it as a tensor."""
    return value.args[0] if isinstance(value, Term) and value.op == "if_moved" else value


def _may_be_moved(value: Value) -> bool:
    is_moved_to_host = isinstance(value, Term) and value.op == "moved" and value.args[1] == HOST
    return isinstance(value, Term) and value.waits and value.op != "if_moved" and not is_moved_to_host


def is_moved(value: Value) -> bool:
    """True for what an item of a dict is replaced with if it is a tensor: `if torch.is_tensor(v): batch[k] = v.to(device)`. Other items stay."""
    if isinstance(value, Tensor):
        return value.device != HOST
    if isinstance(value, Term):
        return value.op == "if_moved" or (value.op == "moved" and value.args[1] != HOST)
    return isinstance(value, Ref)


def joined_mark(values: list[Any]) -> Any:
    """What holds of a module that was moved on some paths: somebody knows where it is, and it is where it was moved to."""
    moved = [value for value in values if value != "host"]
    return moved[0] if moved else values[0]


def _joined_place(several: list[tuple[Facts, Place]]) -> Place:
    """Where a module is that was moved on some paths, by the conditions that tell them apart. What it got from another one is where it is, whatever holds, but
    for a move to an accelerator.
    """
    found = [one for _, place in several for _, one in places_of(place)]
    given = any(isinstance(one, Term) and one.op == "device_of" for one in found) and not any(map(is_elsewhere, found))
    if all(guards for guards, _ in several) and not given:
        place = place_in(one_of([(guards, device_at(one)) for guards, one in several]))
        left = places_of(place) if place is not None else ()
        if place is not None and (len(left) == 1 or all(guards for guards, _ in left)):
            return place
    moved = [place for _, place in several if place != UNMOVED]
    return cast("Place", joined_mark(moved)) if moved else UNMOVED


@dataclass(frozen=True, slots=True)
class Cell:
    """The item of a container under the key that a local variable of a body holds; `before` is what a container from outside held there."""

    body: ir.Body
    name: str
    before: Value
    value: Value


@dataclass(frozen=True, slots=True)
class Under:
    """The field of a container from outside that an open key names, behind a store under this key; `held` is what the container held there before."""

    key: Value
    held: Value


Moving = dict[Any, Rec | None]
"""The objects that a turn of a loop has moved, with what they were before; None for those that it has made."""


def moved_in_turn(before: Moving, after: Heap) -> Heap | None:
    """The heap behind a turn of a loop for the next one, None where no module or state of an optimizer is elsewhere than before the turn.

    What the turn asked of its data the next one asks anew: where a module is on a condition, this was one of the turn before.
    """
    moved = {
        place: after[place]
        for place, rec in before.items()
        if rec is not None and place in after and _is_moved_in_turn(rec, after[place])
    }
    if not moved:
        return None
    return {
        **after,
        **{place: rec.put("@device", _of_turn_before(rec)) for place, rec in moved.items() if "@device" in rec.fields},
    }


def _is_moved_in_turn(before: Rec, after: Rec) -> bool:
    """True for a module that was brought elsewhere, also where a condition holds; what a condition has left on the CPU was there before."""
    here, there = before.fields.get("@device"), after.fields.get("@device")
    if here != there and there is not None:
        places = [place for _, place in places_of(there)]
        return len(places) == 1 or (
            HOST in places and here is not None and HOST not in [at for _, at in places_of(here)]
        )
    return before.fields.get(FILLED) != after.fields.get(FILLED)


def _of_turn_before(rec: Rec) -> Place:
    place: Place = rec.fields["@device"]
    if not isinstance(place, Term) or place.op != EITHER:
        return place
    options = [
        (frozenset((Term(EARLIER, term), outcome) for term, outcome in guards), device_at(one))
        for guards, one in places_of(place)
    ]
    found = place_in(one_of(options))
    return place if found is None else found


def without_looked_up(rec: Rec) -> Rec:
    """What was written, for a caller, who does what was stored under open keys again."""
    if not any(isinstance(key, Under) for key in rec.fields):
        return rec
    return Rec(rec.kind, rec.cls, {key: one for key, one in rec.fields.items() if not isinstance(key, Under)})


def old_field(place: Any, key: Any) -> Value:
    """What an object from outside held in a field before."""
    if isinstance(key, Under):
        return key.held
    if isinstance(key, str) and key.startswith("."):
        return Term("attribute", place, key[1:])
    return Term("element", place) if key == "*" else Term("item", place, Const(key[1]))
