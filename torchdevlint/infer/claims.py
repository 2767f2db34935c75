"""Claims: what must hold where tensors meet, and whether values and facts already decide it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from torchdevlint.infer import devices, handed, samples, tensors
from torchdevlint.infer.conditions import are_together, asks_for_cuda, is_for_the_host, is_kept_from_before, opposite
from torchdevlint.infer.guards import consistent
from torchdevlint.infer.joins import one_of
from torchdevlint.infer.options import is_told
from torchdevlint.infer.state import EARLIER, FIRST, OF_DATA, Facts, asked
from torchdevlint.infer.summary import LEAF, Claim, ClaimKind, Fault, Operand
from torchdevlint.infer.values import (
    DATA,
    HOST,
    MANY,
    NONE,
    NOWHERE,
    NUMBER,
    UNKNOWN,
    UNKNOWN_INDEX,
    Const,
    Device,
    OneOf,
    Place,
    Rec,
    Ref,
    Site,
    Tensor,
    Term,
    Tup,
    Value,
    alternatives,
    as_chosen,
    conditions_of,
    index_of,
    is_choice,
    is_elsewhere,
    options_of,
    places_of,
    waits,
)
from torchdevlint.program import ir

if TYPE_CHECKING:
    from torchdevlint.infer.context import Context


RETURNED = ("returned", "returned")  # the roles of tensors that a function gives back together
GENERATOR = "generator"  # the role of what draws numbers, beside what is drawn


class _Side(NamedTuple):
    """One thing that an operand may be."""

    guards: Facts
    tensor: Tensor
    operand: Operand
    may_be_host: bool  # the operand may be on the CPU as well
    # This one is left behind on a condition alone, or made on the CPU where a flag does not ask for a GPU.
    is_moved: bool
    varies: bool  # on another path the operand is on another device, is no tensor, or nobody knows what it is
    may_be_apart: bool  # ... and no condition tells the paths apart
    is_replaced: bool  # ... and it is elsewhere there by what the code does, whatever a caller gives


def claim(
    ctx: Context,
    kind: ClaimKind,
    operands: Sequence[Operand],
    site: Site | None,
    chain: tuple[Site, ...] | None = None,
    *,
    weak: bool = False,
) -> None:
    """Decides a claim as far as it can be, and leaves what is open to the callers.

    `weak`: nothing proves that what is called wants a common device: no caller from outside is told of it, and nothing is certain.
    """
    if ctx.mute or site is None:
        return
    chain = ctx.chain if chain is None else (*chain, *ctx.chain)
    recorder = ctx.analysis.recorder
    if is_for_the_host(ctx.facts):
        if recorder is not None:
            made = Claim(kind, tuple(operands), site, chain)
            recorder.claimed(ctx, made, met=False, is_pending=False, is_reached=False)
        return
    if ctx.weak and ctx.mode == "root":
        _prove_inputs(ctx, operands)
    if not chain:
        operands = [operand._replace(bound=handed.bound(ctx, operand.value, site)) for operand in operands]
    operands = [_by_place(_now(ctx, operand)) for operand in operands]
    if kind == "same" and any(one.role == "operand" and may_be_module(ctx, one.value) for one in operands):
        return  # what an operator does with a module its class says
    if kind == "same" and ctx.mode != "summary" and not weak and not chain:
        operands = [operand._replace(value=samples.part(ctx, operand.value, site)) for operand in operands]
    sides = [list(_sides(ctx, operand)) for operand in operands]
    if ctx.mode != "summary" and ctx.chain and not _is_of_nobody(kind, sides):
        through = (site.body, *(way.body for way in chain[:-1]))
        ctx.analysis.heard.passed |= {(site, body) for body in through if body is not None}
    if kind == "same" and ctx.mode != "summary" and any(map(_is_host_array, sides)):
        sides = [
            found or list(_sides(ctx, _given_back(operand))) for found, operand in zip(sides, operands, strict=True)
        ]
    if ctx.mode != "summary" and recorder is None and not any(sides):
        return  # no tensor at all, and nobody who may know of one
    is_pending = any(_is_pending(ctx, operand) for operand in operands)
    met, is_left = True, False
    if kind == "host":
        for side in sides[0]:
            if _is_left_to_callers(ctx, side.guards):
                is_left = True
            elif _is_reached(ctx, side, side) and (side.operand.role != LEAF or side.tensor.leaf == "copied"):
                _judge_host(ctx, side, site, chain, weak=weak)
        if chain and sides[0] and all(side.tensor.device == HOST for side in sides[0]):
            ctx.analysis.heard.met.add((site, None))
        met = False
    else:
        for first, second in _apart(sides):
            for a in first:
                for b in second:
                    if _is_left_to_callers(ctx, a.guards | b.guards):
                        is_left = True
                    elif consistent(a.guards, b.guards) and _is_reached(ctx, a, b):
                        met = _judge(ctx, kind, a, b, site, chain, weak=weak) and met
    if ctx.mode != "root" and chain and kind == "same":
        for several in sides:
            ctx.analysis.heard.met |= {(site, origin) for origin in _brought_elsewhere(several)}
    if ctx.mode == "summary" and (is_pending or is_left):
        if is_left or kind == "host" or sum(_may_be_tensor(operand) for operand in operands) > 1:
            left = (_as_placed(ctx, _as_held(ctx, handed.on(ctx, operand))) for operand in operands)
            ctx.emit(Claim(kind, tuple(left), site, chain))
    elif met and not is_pending and (chain or ctx.mode != "summary"):
        if kind == "same" and chain and sum(map(bool, sides)) > 1:
            ctx.analysis.heard.met.add((site, None))
        # An index on the CPU fits what is on any device.
        for side in (side for several in (sides if kind == "same" else sides[:1]) for side in several):
            if side.tensor.device == HOST:
                ctx.analysis.heard.met.add((site, side.tensor.origin))
    if recorder is not None:
        recorder.claimed(ctx, Claim(kind, tuple(operands), site, chain), met=met, is_pending=is_pending or is_left)


def _is_left_to_callers(ctx: Context, guards: Facts) -> bool:
    """True where a caller knows more of the conditions: whether two of them hold together, as `args.gpu > 0` and the flag that an object made of it.

    What one of several callees claims is judged with the claims of the others, which are all known at the call alone (infer/choice.py).
    """
    return ctx.mode == "summary" and ctx.choice is None and any(term.waits for term, _ in ctx.facts | guards)


def returned(ctx: Context, value: Value, body: ir.Body) -> None:
    """What comes back together from a function that somebody from outside calls belongs together: it is asked to be on one device.

    What a module's `forward` gives back is also asked to be where its input is.
    """
    inputs = [Tensor(Term("own", term), MANY) for term in _inputs_of(body) if term in ctx.proven]
    for option in alternatives(value):
        together = list(option.items) if isinstance(option, Tup) else [option] if body.name == "forward" else []
        known = [one for part in together for one in alternatives(part) if isinstance(one, Tensor)]
        others = [one for one in known if isinstance(one.device, Term) and one.device.op in ("own", "near")]
        others = others or (inputs if body.name == "forward" else [])
        for host in known if others else ():
            if host.device == HOST and host.implicit == "default" and host.rank not in (0, None) and not host.follows:
                site = _return_of(ctx, body)
                if site is not None and host.origin is not None and host.origin.unit is ctx.unit:
                    ctx.analysis.report(Fault("open", "same", site, host, others[0], RETURNED, ()), ctx)


def _inputs_of(body: ir.Body) -> list[Term]:
    return [Term("parameter", body, parameter.name) for parameter in body.parameters]


def _return_of(ctx: Context, body: ir.Body) -> Site | None:
    found = [op for block in body.blocks for op in block.ops if isinstance(op, ir.Return)]
    return ctx.analysis.unit_of(body).site(found[-1], body) if found else None


def _apart(sides: list[list[_Side]]) -> Iterator[tuple[list[_Side], list[_Side]]]:
    """The pairs of operands in their order, without those that are surely on one device: of many operands, most are."""
    places = [{side.tensor.device for side in several} for several in sides]
    elsewhere: dict[Place, list[int]] = {}  # by a place, the operands that are not surely there
    for at, first in enumerate(sides):
        if len(places[at]) == 1:
            (place,) = places[at]
            if place not in elsewhere:
                elsewhere[place] = [other for other, found in enumerate(places) if found and found != places[at]]
            others = islice(elsewhere[place], bisect_right(elsewhere[place], at), None)
        else:
            others = islice(range(len(sides) if first else 0), at + 1, None)
        for other in others:
            yield first, sides[other]


def _prove_inputs(ctx: Context, operands: Sequence[Operand]) -> None:
    """What a module is given and lets meet a tensor is one, for whoever calls it from outside."""
    options = [one for operand in operands if operand.role != GENERATOR for _, one in options_of(operand.value)]
    inputs = {one for one in options if isinstance(one, Term) and _is_input(ctx, one)}
    if inputs and any(isinstance(tensors.as_tensor(ctx, one), Tensor) for one in options):
        ctx.proven |= inputs


def _is_input(ctx: Context, value: Term) -> bool:
    """True for what a module is given, and for an item of it by name: `batch["images"]`."""
    if value.op == "item":
        holder, key = value.args[:2]
        return holder in ctx.weak and isinstance(key, Const) and isinstance(key.value, str)
    return value in ctx.weak


def _sides(ctx: Context, operand: Operand) -> Iterable[_Side]:
    found = [
        (guards, one if operand.is_placed and isinstance(one, Tensor) else tensors.as_tensor(ctx, one))
        for guards, one in options_of(operand.value)
    ]
    found = [(guards, _beside_what_is_equal(guards, one) if isinstance(one, Tensor) else one) for guards, one in found]
    known = [(guards, one) for guards, one in found if isinstance(one, Tensor)]
    if not known:
        return
    may_be_host = any(one.device == HOST for _, one in known)
    moved = {one.origin for _, one in known if one.device != HOST and one.origin is not None and not one.follows}
    may_be_moved = any(one.device == NOWHERE and one.moved is not None and not asked(guards) for guards, one in known)
    possible = [(guards, one) for guards, one in found if consistent(guards, ctx.facts) and one != NONE]
    is_replaced = any(
        one.device not in (HOST, NOWHERE) and not any(_is_of_caller(term) for term, _ in guards)
        for guards, one in known
    )
    elsewhere = [asked(guards) for guards, one in known if is_elsewhere(one.device)]
    made_elsewhere = {guard for guards in elsewhere for guard in guards}
    chosen = {
        (term, not outcome)
        for guards in elsewhere
        for term, outcome in guards
        if term.op != EARLIER and NUMBER not in term.args
    }
    chosen.update(*(opposite(guards) for guards in elsewhere if len(guards) > 1))
    for guards, one in known:
        is_left = (
            one.device == HOST
            and (one.origin in moved or (may_be_moved and not asked(guards)) or not chosen.isdisjoint(guards))
            and not is_kept_from_before(guards, made_elsewhere)
            and not any(term.op == EARLIER for term, _ in guards)
        )
        others = [on for on, other in possible if not isinstance(other, Tensor) or other.device != one.device]
        may_be_apart = any(consistent(_lasting(guards), on) for on in others if not _is_later(on - guards))
        yield _Side(guards, one, operand, may_be_host, is_left, bool(others), may_be_apart, is_replaced)


def _beside_what_is_equal(guards: Facts, value: Tensor) -> Tensor:
    """A CPU tensor that is one where an open device is the CPU alone is on that device: `if table.device != self.device: table = table.to(self.device)`."""
    for term, outcome in guards if value.device == HOST else ():
        if outcome and term.op == "equal":
            places = [one.place for one in term.args if isinstance(one, Device)]
            opened = [place for place in places if isinstance(place, Term)]
            if HOST in places and opened:
                return replace(value, device=opened[0], implicit="")
    return value


def _lasting(guards: Facts) -> Facts:
    """The conditions that come out the same wherever they are asked: each turn of a loop decides anew what its data decides."""
    return frozenset(guard for guard in guards if DATA not in guard[0].args)


def _is_later(guards: Facts) -> bool:
    """True for what a later turn of a loop has alone: a first turn comes before it, and has one of the others."""
    return any(term.op == FIRST and not outcome for term, outcome in guards)


def _is_of_caller(term: Term) -> bool:
    """True for what the caller of a function decides: `x is None` of an argument."""
    first = term.args[0] if term.args else None
    return term.op == "parameter" or (isinstance(first, Term) and first.op == "parameter")


def _is_of_nobody(kind: ClaimKind, sides: list[list[_Side]]) -> bool:
    """True where one thing is on the CPU, or must be, and the other where something unknown is: this caller knows no more than what it calls."""
    devices_met = [side.tensor.device for several in sides for side in several]
    is_open = any(isinstance(place, Term) and place.op == "own" and not waits(place) for place in devices_met)
    return is_open and (kind == "host" or HOST in devices_met)


def _brought_elsewhere(sides: list[_Side]) -> set[Site]:
    """What was made on the CPU as somebody else calls it, and is on an accelerator as this program does."""
    left = {side.tensor.origin for side in sides if not is_elsewhere(side.tensor.device)}
    return {side.tensor.origin for side in sides if side.tensor.origin is not None} - left


def _is_host_array(sides: list[_Side]) -> bool:
    """True for an operand that is on the CPU for certain, and no number."""
    return bool(sides) and all(one.tensor.device == HOST and one.tensor.rank not in (0, None) for one in sides)


def _given_back(operand: Operand) -> Operand:
    """A part of what a module gives back and somebody computes with: a tensor, as far as one can tell, and near the module."""
    value = operand.value
    whole = devices.whole(value) if isinstance(value, Term) and value.op in ("item", "unpack") else None
    if whole is None or whole.op != "moved" or not isinstance(whole.args[1], Term) or whole.args[1].op != "near":
        return operand
    return operand._replace(value=Tensor(whole.args[1], None))


def may_be_module(ctx: Context, value: Value) -> bool:
    """True for a module of which somebody here knows the class."""
    return any(rec is not None and rec.kind == "module" for _, rec in ctx.each(value))


def _is_pending(ctx: Context, operand: Operand) -> bool:
    for _, one in options_of(operand.value):
        known = tensors.as_tensor(ctx, one)
        if isinstance(known, Tensor):
            place = known.device
            is_open = waits(place) if is_choice(place) else isinstance(place, Term) and not is_told(place)
            if is_open or (known.implicit == "default" and ctx.unit.sets_default):
                return True
        elif isinstance(known, Term) and known is not UNKNOWN:
            return True
    return False


def _may_be_tensor(operand: Operand) -> bool:
    """False for a number, a string, and what nobody will know more of: that meets no tensor elsewhere."""
    return any(
        isinstance(one, (Tensor, Ref)) or (isinstance(one, Term) and one is not UNKNOWN and not _is_size(one))
        for one in alternatives(operand.value)
    )


def _is_size(term: Term) -> bool:
    """True for `x.shape[0]`, whatever `x` is."""
    whole = term.args[0] if term.op in ("item", "unpack") else None
    return isinstance(whole, Term) and whole.op == "attribute" and whole.args[1] == "shape"


def _is_reached(ctx: Context, a: _Side, b: _Side) -> bool:
    """False where what holds here rules one of the two out."""
    facts = ctx.facts
    if not (_may_be_chosen(a, facts | b.guards) and _may_be_chosen(b, facts | a.guards)):
        return False
    return not (a.guards or b.guards) or (
        consistent(a.guards, facts) and consistent(b.guards, facts) and not is_for_the_host(a.guards | b.guards)
    )


def _may_be_chosen(side: _Side, facts: Facts) -> bool:
    """False where the program's choice is the CPU as things are: `x.to("cuda" if args.cuda else "cpu")` under `if not args.cuda`."""
    return consistent(conditions_of(side.tensor.device), facts)


def _are_apart(ctx: Context, a: _Side, b: _Side) -> bool:
    """True for two accelerators of which it is certain that they are not the same. Without an index it is the current one, the first if no file sets it."""
    if isinstance(a.operand.value, OneOf) or isinstance(b.operand.value, OneOf):
        return False
    indices = index_of(a.tensor.device), index_of(b.tensor.device)
    if UNKNOWN_INDEX in indices or indices[0] == indices[1]:
        return False
    return "" not in indices or not ctx.analysis.kept.imports.sets_current_device(ctx.unit)


def _as_held(ctx: Context, operand: Operand) -> Operand:
    """What is left to a caller, who does not see the modules that are made here and used here alone."""
    is_of_module = operand.role == "module" or any(
        isinstance(o, Tensor) and o.follows for o in alternatives(operand.value)
    )
    known = [one for one in alternatives(operand.value) if isinstance(one, Tensor) and one.device == HOST]
    if operand.holder is not None or not is_of_module or len(known) != 1:
        return operand
    return operand._replace(holder=handed.outermost(ctx, known[0]))


def _as_placed(ctx: Context, operand: Operand) -> Operand:
    """What is left to a caller, who finds the modules that are made here as they are left at the end."""
    parts = [one for one in alternatives(operand.value) if isinstance(one, Tensor) and one.follows]
    if not parts or operand.is_placed or any(one.origin is None for one in parts):
        return operand
    origins = {one.origin.whole for one in parts if one.origin is not None}
    made = {
        ref
        for ref, rec in ctx.heap.items()
        if rec.kind == "module" and rec.fields.get("@origin") in origins and isinstance(ref, Ref)
    }
    is_own = {ctx.heap[ref].fields["@origin"] for ref in made} == origins  # a module from outside has no fields here
    if not is_own or _is_shown(ctx, made):
        return operand
    return operand._replace(is_placed=True)


def _is_shown(ctx: Context, modules: set[Ref]) -> bool:
    """True where something open was given a module, or what holds it: it may have moved it."""
    pending: list[object] = [one for one in ctx.handed_on if isinstance(one, Ref)]
    seen = set(pending)
    while pending:
        one = pending.pop()
        if one in modules:
            return True
        rec = ctx.heap.get(one)
        for content in rec.fields.values() if rec is not None else ():
            held = content if type(content) is Ref else None
            several = (held,) if held is not None else alternatives(content) if type(content) is OneOf else ()
            fresh = [inner for inner in several if isinstance(inner, Ref) and inner not in seen]
            seen.update(fresh)
            pending += fresh
    return False


def _now(ctx: Context, operand: Operand) -> Operand:
    value = operand.value
    if operand.is_placed:
        return operand
    may_move = any(
        isinstance(one, Tensor) and (one.follows or devices.of_data(one.origin, follows=one.follows) in ctx.heap)
        for one in alternatives(value)
    )
    return operand._replace(value=where_now(ctx, value)) if may_move else operand


def _by_place(operand: Operand) -> Operand:
    """An operand on one of several devices is one of several tensors, each under the conditions of its device."""
    if not any(isinstance(one, Tensor) and len(places_of(one.device)) > 1 for one in alternatives(operand.value)):
        return operand
    several: list[tuple[Facts, Value]] = []
    for guards, one in options_of(operand.value):
        if not isinstance(one, Tensor):
            several.append((guards, one))
            continue
        several += [
            (guards | inner, replace(one, device=place))
            for inner, place in places_of(one.device)
            if consistent(guards, inner)
        ]
    return operand._replace(value=one_of(several))


def where_now(ctx: Context, value: Value) -> Value:
    """A parameter that was read before its module was moved is where the module is: `module.to()` moves it in place, for all who hold it."""
    if isinstance(value, OneOf):
        return one_of([(guards, where_now(ctx, one)) for guards, one in value.options])
    if not isinstance(value, Tensor):
        return value
    moved = ctx.heap.get(devices.of_data(value.origin, follows=value.follows)) if value.origin is not None else None
    if moved is not None:
        return Tensor(moved.fields[OF_DATA], value.rank, value.origin, follows=value.follows, kept=value.kept)
    if not value.follows:
        return value
    made = value.origin.whole if value.origin is not None else None
    known = ctx.heap.get(ctx.holders.get(made)) if made is not None else None
    # Most have not moved, and this is asked of every claim.
    if known is not None and value.device in _places_in(known, value):
        return value
    places: set[Place] = set()
    for one, rec in ctx.heap.items():
        found = _places_in(rec, value)
        if value.device in found:  # of several, one may be a copy's, which is of the same origin
            if made is not None:
                ctx.holders[made] = one
            return value
        places |= found
    return Tensor(places.pop(), value.rank, value.origin, follows=True, kept=value.kept) if len(places) == 1 else value


def _places_in(rec: Rec, value: Tensor) -> set[Place]:
    """Where a module is by now, if it holds a parameter that has been read before; where that was then, if it may hold it no more."""
    found: set[Place] = set()
    if rec.kind != "module":
        return found
    if value.origin is not None and rec.fields.get("@origin") is value.origin.whole:
        found.add(rec.fields.get("@device", HOST))
    for key, content in rec.fields.items():
        if type(content) is not Tensor and type(content) is not OneOf:
            continue
        for one in alternatives(content):
            if isinstance(one, Tensor) and one.follows and _may_be_same(one, one.kept or str(key)[1:], value):
                is_other = f"{devices.BUFFER}{key}" in rec.fields or f"{devices.REPLACED}{key}" in rec.fields
                found.add(value.device if is_other else one.device)
    return found


def _may_be_same(one: Tensor, name: str, other: Tensor) -> bool:
    """Whether two readings may be of one parameter, which has moved meanwhile. Of what a caller gave only the name is known."""
    if one.origin is None or other.origin is None:
        return one.origin is other.origin and name == other.kept
    return one.origin.whole is other.origin.whole and other.kept in ("", name)


def _beside(ctx: Context, guards: Facts) -> Tensor | None:
    """The tensor that something is on a GPU beside: `x` for `(cuda.FloatTensor if x.is_cuda else FloatTensor)(3)`."""
    for term, outcome in guards:
        if outcome and asks_for_cuda(term):
            found = tensors.as_tensor(ctx, term.args[0])
            if isinstance(found, Tensor):
                return found
    return None


def _judge_host(ctx: Context, side: _Side, site: Site, chain: tuple[Site, ...], *, weak: bool) -> None:
    place = side.tensor.device
    roles = ("", side.operand.role)
    if is_elsewhere(place) or is_told(place):
        may_differ = weak or side.may_be_apart or ctx.is_later_turn
        sometimes = may_differ or side.varies or is_told(place)
        met = replace(side.tensor, device=as_chosen(place))
        fault = Fault("broken", "host", site, None, met, roles, chain, sometimes=sometimes, may_differ=may_differ)
        ctx.analysis.report(_told_of(ctx, fault, side), ctx)
    # What varies may be an array as well, as somebody from outside gives it.
    elif (
        not side.varies
        and isinstance(place, Term)
        and (ctx.mode == "root" or (place.op == "near" and not waits(place)))
    ):
        is_method = side.operand.role == "method"
        if place.op == "as_device" or place.args == ("self",) or (place.op in ("own", "near") and is_method):
            fault = Fault("open", "host", site, None, side.tensor, roles, chain)
            ctx.analysis.report(_told_of(ctx, fault, side), ctx)


def _judge(
    ctx: Context, kind: ClaimKind, a: _Side, b: _Side, site: Site, chain: tuple[Site, ...], *, weak: bool
) -> bool:
    """Whether two sides are surely on one device; reports them where they are not."""
    facts = ctx.facts | a.guards | b.guards
    if a.tensor.device == b.tensor.device or are_together(facts, a.tensor.device, b.tensor.device):
        return True
    if is_elsewhere(a.tensor.device) and is_elsewhere(b.tensor.device):
        if _are_apart(ctx, a, b):
            roles = (a.operand.role, b.operand.role)
            fault = Fault("broken", kind, site, None, b.tensor, roles, chain, beside=a.tensor, sometimes=weak)
            ctx.analysis.report(fault, ctx)
        return False
    if b.tensor.device == HOST:
        if kind == "index":
            return False  # an index may stay on the CPU
        a, b = b, a
    if kind == "index" and b.tensor.rank in (0, None):
        return False  # read as a number, or it may be (torch/csrc/autograd/python_variable_indexing.cpp)
    host, other = a.tensor, b.tensor
    if host.device != HOST or a.is_moved or (ctx.is_first and a.is_replaced):
        return False
    is_alike = other.rank in (0, None) or a.operand.tolerant != "all"
    if a.operand.tolerant and host.rank in (0, None) and is_alike:
        return False
    if ctx.mode == "summary" and host.implicit == "default" and ctx.unit.sets_default:
        return False  # the default device at the call decides
    if (
        ctx.mode == "root"
        and host.implicit in ("default", "import")
        and host.origin is not None
        and host.origin.unit.default_set_elsewhere
    ):
        return False  # the files that import this one run it under another default device
    is_of_nowhere = host.origin is None  # a caller has told that it is on the CPU, and nobody where it was made
    if _has_moved_since(ctx, host):
        host = replace(host, origin=None)  # moving the module mends nothing
    roles = (a.operand.role, b.operand.role)
    if is_elsewhere(other.device):
        other = _beside(ctx, a.guards | b.guards) or replace(other, device=as_chosen(other.device))
    if is_elsewhere(other.device) or is_told(other.device):
        may_be_apart = a.may_be_apart or b.may_be_apart
        may_differ = weak or may_be_apart or ctx.is_later_turn or _are_unrelated(a.guards, b.guards)
        sometimes = may_differ or a.varies or b.varies or is_told(other.device)
        if is_of_nowhere and sometimes:
            return False
        fault = Fault("broken", kind, site, host, other, roles, chain, sometimes=sometimes, may_differ=may_differ)
        ctx.analysis.report(_told_of(ctx, fault, a), ctx)
    elif (
        isinstance(other.device, Term)
        and (ctx.mode == "root" or (other.device.op in ("near", "as_device") and not waits(other.device)))
        and not weak
        and other.device.op in ("own", "as_device", "near", "device_of")
        and not (b.may_be_host or is_of_nowhere)
    ):
        ctx.analysis.report(_told_of(ctx, Fault("open", kind, site, host, other, roles, chain), a), ctx)
    return False


def _are_unrelated(first: Facts, second: Facts) -> bool:
    """True for conditions of two sides of which nobody knows whether they hold together."""
    first, second = asked(first), asked(second)
    return not (first <= second or second <= first)


def _has_moved_since(ctx: Context, tensor: Tensor) -> bool:
    """True for what was computed from a parameter or buffer of a module that is elsewhere by now: `mask = torch.ones_like(p)` in front of the move."""
    if tensor.follows or tensor.origin is None or not tensor.origin.is_part:
        return False
    made = tensor.origin.whole
    holders = [rec for rec in ctx.heap.values() if rec.kind == "module"]
    places = {rec.fields.get("@device", HOST) for rec in holders if rec.fields.get("@origin") is made}
    places |= {
        one.device
        for rec in holders
        for content in rec.fields.values()
        for one in alternatives(content)
        if isinstance(one, Tensor) and one.follows and one.origin is tensor.origin
    }
    return bool(places) and all(is_elsewhere(place) or is_told(place) for place in places)


def _told_of(ctx: Context, fault: Fault, side: _Side) -> Fault:
    """A fault with the way of what is to be moved: the outermost call that hands it on, and where it got its name."""
    operand = side.operand
    given = handed.given(ctx, side.tensor, fault.is_of_module) or operand.given
    holder = (handed.outermost(ctx, side.tensor) or operand.holder) if fault.is_of_module else None
    left = handed.left_at(ctx, side.tensor) if ctx.is_later_turn and fault.is_of_module else None
    return fault._replace(given=given, bound=operand.bound, holder=holder, left=left)
