"""Leaves that are given to an optimizer and moved afterwards: the optimizer keeps the old ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.class_shape import reached
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.sharing import Sharing, sharing_of
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import is_read_inside
from torchdevlint.rules.structure import may_follow
from torchdevlint.source.grounds import remembered
from torchdevlint.stubs.knowledge import modules

_GIVE_ANEW = ("param_groups", "add_param_group")
_MOVES = frozenset({"to", "cuda", "xpu"})


class Replaced(NamedTuple):
    """The move whose result takes the place of a leaf, and the optimizer that has the old one."""

    move: ir.Call
    built: ir.Call


def replaced(store: ir.StoreAttribute, facts: Facts) -> Replaced | None:
    """The optimizer that goes on with the old tensor where `self.x = self.x.to(device)` gives its object another; None where there is none.

    A method that builds the optimizer afterwards, or calls one that does, gives it the new one.
    """
    name, summary, lookup = facts.place(store.object), facts.class_summary, Lookup.of(facts.body)
    if summary is None or name != facts.index.self_name or any(map(lookup.attributes, _GIVE_ANEW)):
        return None
    move = _move_of(store, f"{name}.{store.name}", facts)
    methods = summary.cls.methods
    if move is None or (summary.is_module and _is_parameter(store.name, methods, facts)):
        return None
    built = {method: [*_built_over(store.name, body, facts)] for method, body in methods.items()}
    here = built.pop(facts.body.name, [])
    others = {method: calls[0] for method, calls in built.items() if calls}
    if not reached(facts.analysis, summary, [facts.body.name]).isdisjoint(others):
        return None
    if here:
        is_last = all(lookup.number(call) < lookup.number(store) for call in here)
        return Replaced(move, here[-1]) if is_last else None
    if not others or facts.body.name in reached(facts.analysis, summary, ["__init__", *others]):
        return None  # it may run before the optimizer is built
    return Replaced(move, next(iter(others.values())))


@remembered(512)
def replaced_here(body: ir.Body, analysis: FileFacts) -> tuple[Replaced, ...]:
    """The moves of tensors, in one body, that an optimizer of the body has been given, where nothing goes on with the tensors themselves.

    A move in a loop that the optimizer is not built in copies what `step()` has left, each time.
    """
    lookup = Lookup.of(body)
    if body.kind == "class" or any(map(lookup.attributes, _GIVE_ANEW)):
        return ()
    return tuple(_replaced_in(sharing_of(body, analysis)))


def _replaced_in(sharing: Sharing) -> Iterator[Replaced]:
    lookup, cfg = Lookup.of(sharing.body), Cfg.of(sharing.body)
    told: list[ir.Call] = []  # once for each optimizer: the other tensors are of one mistake
    for built, given in sharing.given_to_optimizer():
        leaf = lookup.definition(given)
        if not isinstance(leaf, ir.Load) or is_read_inside(sharing.body, leaf.name):
            continue
        bound = cfg.bindings(leaf.name, built)
        values = [
            load
            for load in lookup.loads(leaf.name)
            if cfg.bindings(leaf.name, load) == bound
            and may_follow(sharing.body, built, load)
            and not sharing.is_asked_only(load)
        ]
        moves = [_moved_for_good(load, built, lookup, sharing.facts) for load in values]
        if moves and moves[0] is not None and None not in moves and built not in told:
            told.append(built)
            yield Replaced(moves[0], built)


def _moved_for_good(load: ir.Load, built: ir.Call, lookup: Lookup, facts: Facts) -> ir.Call | None:
    """The move of what a name holds whose result is kept or returned, in no loop that the optimizer is built outside of."""
    methods = [op for op in lookup.readers(load.dst) if isinstance(op, ir.Attribute) and op.name in _MOVES]
    calls = [call for method in methods for call in lookup.readers(method.dst) if isinstance(call, ir.Call)]
    if len(lookup.readers(load.dst)) != 1 or len(calls) != 1:
        return None
    move, here, there = calls[0], lookup.block(calls[0]), lookup.block(built)
    if facts.target_of_move(move) is None or here is None or there is None or not set(here.loops) <= set(there.loops):
        return None
    if facts.frame.is_already_at(load.dst, move.argument("device", 0)):
        return None
    return move if _is_kept(move.dst, lookup) else None


def _is_kept(register: ir.Register, lookup: Lookup) -> bool:
    """True for what is bound to a name or an attribute, or returned, also in a tuple."""
    for op in lookup.readers(register):
        if isinstance(op, (ir.Store, ir.StoreAttribute, ir.Return)):
            return True
        if isinstance(op, ir.Sequence) and op.shape == "tuple":
            return _is_kept(op.dst, lookup)
    return False


def _is_parameter(name: str, methods: dict[str, ir.Body], facts: Facts) -> bool:
    """True for an attribute that a module keeps a Parameter in, which takes no tensor in its place."""
    for body in methods.values():
        lookup = Lookup.of(body)
        made = (lookup.definition(store.value) for store in lookup.attribute_stores(name))
        if any(
            isinstance(op, ir.Call) and facts.analysis.spelled(op.function, body) in modules.PARAMETERS for op in made
        ):
            return True
    return False


def _move_of(store: ir.StoreAttribute, place: str, facts: Facts) -> ir.Call | None:
    """The move in a chain of methods that begins with the attribute itself: `self.x.detach().to(device).requires_grad_()`."""
    written, move = facts.definition(store.value), None
    while isinstance(written, ir.Call):
        method = facts.definition(written.function)
        if not isinstance(method, ir.Attribute):
            return None
        if method.name in _MOVES and facts.target_of_move(written) is not None:
            move = written
        if facts.place(method.object) == place:
            return move
        written = facts.definition(method.object)
    return None


def _built_over(name: str, body: ir.Body, facts: Facts) -> Iterator[ir.Call]:
    """The optimizers that a method builds over an attribute of its object, in a list."""
    lookup, index = Lookup.of(body), facts.analysis.index_of(body)
    reads = [op.dst for op in lookup.attributes(name) if index.dotted(op.object) == index.self_name]
    lists = {op.dst for read in reads for op in lookup.readers(read) if isinstance(op, ir.Sequence)}
    for call in lookup.kind(ir.Call):
        if call.argument("params", 0) in lists and modules.is_optimizer(facts.analysis.spelled(call.function, body)):
            yield call
