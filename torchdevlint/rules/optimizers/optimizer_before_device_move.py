"""TDL203."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind, Value
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import WARNING, Mention, NodeFix, Report, Rule, on_method
from torchdevlint.stubs.knowledge import modules


class OptimizerBeforeDeviceMove(Rule):
    """Finds optimizers that are built before the module whose parameters they hold is moved.

    ## What it does
    Reports `optimizer = torch.optim.X(model.parameters())` followed by `model.to(device)` or `model.cuda()` on the same object.

    ## Why is this bad?
    It works today for CUDA, MPS and XPU moves, because `Module.to` keeps the identity of each Parameter, and stops working with XLA,
    FSDP, `to_empty`, `load_state_dict(assign=True)` and optimizers that make state at construction. The order costs nothing to get right.

    ## Example
        optimizer = torch.optim.Adam(model.parameters())
        model.to(device)

    ## Use instead
        model.to(device)
        optimizer = torch.optim.Adam(model.parameters())

    ## When it stays silent
    The optimizer is built again after the move; it really fails (that is TDL201); the move only wraps the module (DDP, DataParallel); a move
    to the CPU; optimizers over other modules.

    ## Fix safety
    The construction goes below the move; safe when nothing in between uses the optimizer.

    ## Proof
    On CUDA the order works, so the fault itself cannot be shown there; with Adagrad, whose state exists at construction, it fails (TDL201).

    ## References
    torch/nn/modules/module.py (_apply: `param.data = ...`), torch/optim/adagrad.py.
    """

    code, name, severity = "TDL203", "optimizer-before-device-move", WARNING
    fixable = "sometimes"

    @on_method("to", "cuda", "xpu", "npu")
    def check(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        module = facts.value(facts.receiver(call))
        if module.kind is not Kind.MODULE or not module.ref or not moves_to_accelerator(call, facts):
            return
        for optimizer in facts.optimizers_over(module.ref):
            built = optimizer.origin
            if (
                built is None
                or optimizer.symbol in modules.EAGER_OPTIMIZERS
                or already_moved(module, facts)
                or built_again(built, call, facts)
            ):
                continue
            place = facts.place(facts.receiver(call)) or "the model"
            yield self.report(
                built,
                f"this optimizer is built before `{place}` moves on line {{0}}; build the optimizer after the move",
                detail="It works for moves to CUDA, MPS and XPU today, as `Module.to` keeps each Parameter object. It stops working with XLA, "
                "FSDP, `to_empty`, `assign=True` or an optimizer that makes state at construction.",
                related=(Mention(call, "here the model moves"),),
                fix=lambda built=built, optimizer=optimizer: sink_below(built, call, optimizer, facts),  # type: ignore[misc]
            )


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
    return facts.frame is not None and facts.frame.was_moved(module)


def sink_below(built: ir.Op, move: ir.Call, optimizer: Value, facts: Facts) -> NodeFix | None:
    """Move the optimizer's construction below the module's move, when nothing between them needs it."""
    if (
        facts.frame is None
        or optimizer.origin is None
        or any(use.role != "named" and _between(use.op, built, move, facts) for use in facts.uses(built))
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


def statement_of(op: ir.Op, facts: Facts) -> ir.Op | None:
    """The Store or Discard that a call's value goes to."""
    if not isinstance(op, ir.ValueOp):
        return None
    readers = Lookup.of(facts.body).readers(op.dst)
    statements = (ir.Store, ir.StoreAttribute, ir.Discard)
    return next((other for other in readers if isinstance(other, statements) and other.value == op.dst), None)
