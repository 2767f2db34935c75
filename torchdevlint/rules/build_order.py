"""Which comes first: an optimizer, or the move of the module whose parameters it holds."""

from __future__ import annotations

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import NodeFix


def statement_of(op: ir.Op, facts: Facts) -> ir.Op | None:
    """The Store or Discard that a call's value goes to."""
    if not isinstance(op, ir.ValueOp):
        return None
    readers = Lookup.of(facts.body).readers(op.dst)
    statements = (ir.Store, ir.StoreAttribute, ir.Discard)
    return next((other for other in readers if isinstance(other, statements) and other.value == op.dst), None)


def optimizers_over(module: Value, facts: Facts) -> list[Value]:
    """The optimizers alive here that hold parameters of a module."""
    return facts.frame.optimizers_over(module.ref) if module.kind is Kind.MODULE and module.ref else []


def built_again(built: ir.Op, move: ir.Op, facts: Facts) -> bool:
    """True when another optimizer is bound to the same name after the move."""
    store = statement_of(built, facts)
    if not isinstance(store, (ir.Store, ir.StoreAttribute)):
        return False
    lookup = Lookup.of(facts.body)
    at = lookup.number(move)
    others = lookup.stores(store.name) if isinstance(store, ir.Store) else lookup.attribute_stores(store.name)
    return any(op is not store and lookup.number(op) >= at for op in others)


def moves_to_accelerator(call: ir.Call, facts: Facts) -> bool:
    """True for a move that may go to an accelerator (not a cast, not `.to("cpu")`)."""
    target = facts.target_of_move(call)
    return target is not None and target.may_be_accelerator


def already_moved(module: Value, facts: Facts) -> bool:
    """True when the module was moved before on this path: the optimizer may have been built in between."""
    return facts.frame.was_moved(module)


def sink_below(built: ir.Op, move: ir.Call, optimizer: Value, facts: Facts) -> NodeFix | None:
    """Move the optimizer's construction below the module's move, when nothing between them needs it."""
    if optimizer.origin is None or any(
        use.role != "named" and _between(use.op, built, move, facts) for use in facts.uses(built)
    ):
        return None
    statement = statement_of(built, facts)
    anchor = statement_of(move, facts)
    if statement is None or anchor is None:
        return None
    edits = builders.move_statement_below(facts.program, statement, anchor)
    return NodeFix(Ground.ORDER_ALONE, "Build the optimizer after the move", edits)


def _between(op: ir.Op, first: ir.Op, last: ir.Op, facts: Facts) -> bool:
    lookup = Lookup.of(facts.body)
    return lookup.block(op) is not None and lookup.number(first) < lookup.number(op) < lookup.number(last)
