"""TDL203."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.build_order import built_again, moves_to_accelerator, optimizers_over, sink_below
from torchdevlint.rules.rule import WARNING, Mention, Report, Rule, on_method
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
        for optimizer in optimizers_over(module, facts) if moves_to_accelerator(call, facts) else ():
            built = optimizer.origin
            if (
                built is None
                or optimizer.symbol in modules.EAGER_OPTIMIZERS
                or facts.frame.was_moved(module)
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
                fix=lambda built=built: sink_below(built, call, facts),  # type: ignore[misc]
            )
