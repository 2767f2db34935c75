"""Which comes first: an optimizer, or the move of the module whose parameters it holds."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.cfg import Cfg
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
    """True when an optimizer is bound to the same name after the move, also this one, in each turn of a loop around both."""
    store = statement_of(built, facts)
    if not isinstance(store, (ir.Store, ir.StoreAttribute)):
        return False
    lookup, cfg = Lookup.of(facts.body), Cfg.of(facts.body)
    if isinstance(store, ir.Store) and cfg.may_follow(move, built, without=move):
        return not any(cfg.may_follow(move, use, without=store) for use in lookup.loads(store.name))
    at = lookup.number(move)
    others = lookup.stores(store.name) if isinstance(store, ir.Store) else lookup.attribute_stores(store.name)
    return any(op is not store and lookup.number(op) >= at for op in others)


def moves_in(facts: Facts) -> Iterator[ir.Call]:
    """The calls of a body that move something, by the name of the method."""
    lookup = Lookup.of(facts.body)
    for call in lookup.kind(ir.Call):
        method = lookup.definition(call.function)
        if isinstance(method, ir.Attribute) and method.name in ("to", "cuda", "xpu", "cpu"):
            yield call


def moves_to_accelerator(call: ir.Call, facts: Facts) -> bool:
    """True for a move that may go to an accelerator (not a cast, not `.to("cpu")`)."""
    target = facts.target_of_move(call)
    return target is not None and target.may_be_accelerator


def sink_below(built: ir.Op, move: ir.Call, facts: Facts) -> NodeFix | None:
    """The fix that builds an optimizer below the module's move, when nothing between them needs it."""
    number = Lookup.of(facts.body).number
    between = (use for use in facts.uses(built) if number(built) < number(use.op) < number(move))
    if any(use.role != "named" for use in between):
        return None
    return moved_below(built, move, "Build the optimizer after the move", facts)


def moved_below(op: ir.Op, anchor: ir.Op, message: str, facts: Facts) -> NodeFix | None:
    """The fix that moves the statement of one call below that of another."""
    statement, below = statement_of(op, facts), statement_of(anchor, facts)
    if statement is None or below is None:
        return None
    return NodeFix(Ground.ORDER_ALONE, message, builders.move_statement_below(facts.program, statement, below))
