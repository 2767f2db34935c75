"""Leaves that a class gives an optimizer, and moves afterwards: the optimizer keeps the old ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge import modules

_GIVE_ANEW = ("param_groups", "add_param_group")
_MOVES = frozenset({"to", "cuda", "xpu"})


class Replaced(NamedTuple):
    """The move whose result takes the place of a leaf, and the optimizer that has the old one."""

    move: ir.Call
    built: ir.Call
    body: ir.Body


def replaced(store: ir.StoreAttribute, facts: Facts) -> Replaced | None:
    """The optimizer that goes on with the old tensor where `self.x = self.x.to(device)` gives its object another; None where there is none.

    A method that builds the optimizer, or calls one that does, gives it the new one.
    """
    name, summary = facts.place(store.object), facts.class_summary
    if summary is None or name != facts.index.self_name or summary.is_module:
        return None
    if any(Lookup.of(facts.body).attributes(given) for given in _GIVE_ANEW):
        return None
    move = _move_of(store, f"{name}.{store.name}", facts)
    if move is None:
        return None
    methods = summary.cls.methods
    builders = {method: call for method, body in methods.items() for call in _built_over(store.name, body, facts)}
    reached = _called_from(facts.body.name, methods)
    if facts.body.name == "__init__" or not builders or not reached.isdisjoint(builders):
        return None
    first, built = next(iter(builders.items()))
    prepared = set().union(*(_called_from(method, methods) for method in builders))
    return None if facts.body.name in prepared - {first} else Replaced(move, built, methods[first])


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


def _called_from(name: str, methods: dict[str, ir.Body]) -> set[str]:
    """A method and those of its class that it calls, also through others."""
    found, pending = set[str](), [name]
    while pending:
        method = pending.pop()
        if method in methods and method not in found:
            found.add(method)
            pending += [op.name for op in Lookup.of(methods[method]).kind(ir.Attribute)]
    return found
