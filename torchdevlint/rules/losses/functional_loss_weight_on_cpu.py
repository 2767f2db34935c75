"""TDL302."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.values import Evidence
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, on_meet
from torchdevlint.rules.surroundings import in_program_for_the_host, in_project_for_the_host
from torchdevlint.rules.wording import MISMATCH, describe, device_expression, is_certainly_there, make_there, owns


class FunctionalLossWeightOnCpu(Inferred):
    """Finds `weight=` and `pos_weight=` tensors of functional losses that are created on the CPU.

    ## What it does
    Reports `F.cross_entropy(logits, y, weight=w)`, `F.nll_loss`, `F.binary_cross_entropy` and `F.binary_cross_entropy_with_logits` where `w` is made without a device
    and the logits may be on an accelerator.

    ## Why is this bad?
    On an accelerator the call raises `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        weight = torch.tensor([1.0, 4.0])
        return F.cross_entropy(self.head(x), y, weight=weight)

    ## Use instead
        logits = self.head(x)
        weight = torch.tensor([1.0, 4.0], device=logits.device)
        return F.cross_entropy(logits, y, weight=weight)

    ## When it stays silent
    A 0-dim `pos_weight`, a weight that is moved (`.to(logits)`), a registered buffer, `device=`.

    ## Fix safety
    `device=` in the factory is safe where the device's spelling is in scope.

    ## Proof
    The loss of an accelerator's logits with a CPU weight raises; with the device given it equals the CPU run.

    ## References
    aten/src/ATen/native/Loss.cpp, torch/nn/functional.py.
    """

    code, name, severity = "TDL302", "functional-loss-weight-on-cpu", ERROR
    quiet_in = (in_program_for_the_host,)
    doubtful_in = (in_project_for_the_host,)
    fixable = "sometimes"

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        made = meeting.cpu.origin
        if (
            meeting.role != "weight"
            or meeting.module is not None
            or made is None
            or meeting.cpu.rank == 0
            or meeting.cpu.attribute
        ):
            return
        if meeting.other.evidence < Evidence.USAGE:
            return
        expression = device_expression(meeting, facts)

        ground = Ground.OLD_LINE_RAISED if is_certainly_there(meeting, expression) else Ground.UNSEEN_CODE

        def fix() -> NodeFix | None:
            return (
                make_there(made, expression, ground, facts)
                if expression and isinstance(made, ir.Call) and owns(facts, made)
                else None
            )

        yield self.report(
            made,
            f"this CPU weight meets {describe(meeting.other)} on line {{0}}; "
            + (f"create it with `device={expression}`" if expression else "create it on the device of the logits"),
            detail=f"On an accelerator that raises {MISMATCH}.",
            related=(Mention(meeting.op, "here the loss gets it"),),
            fix=fix,
        )
