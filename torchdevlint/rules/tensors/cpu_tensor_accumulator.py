"""TDL515."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.values import Evidence
from torchdevlint.program import ir
from torchdevlint.rules.cases import cpu_tensor
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.premises import premise_of
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, on_meet
from torchdevlint.rules.structure import prepares_data
from torchdevlint.rules.surroundings import (
    in_program_for_the_host,
    in_project_for_the_host,
    in_tests,
    under_another_default_device,
    with_hidden_gpus,
)
from torchdevlint.rules.wording import (
    MISMATCH,
    briefly,
    device_expression,
    how_to_make_there,
    is_certainly_there,
    make_there,
    owns,
)


class CpuTensorAccumulator(Inferred):
    """Finds CPU tensors that are updated in place with values from an accelerator.

    ## What it does
    Follows tensors made without `device=` to `total += loss`, `total.add_(loss)` and other in-place operations whose operand comes from a
    model, an argument or a
    move to a device.

    ## Why is this bad?
    The CPU tensor is the output of the operation, and an output must be on the operands' device even when it has no dimensions:
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        total = torch.tensor(0.0)
        for batch in batches:
            total += loss_of(model, batch.to(device))

    ## Use instead
        total = torch.tensor(0.0, device=device)

    ## When it stays silent
    Python numbers; `.item()` or `.cpu()` on the right side; `total = total + loss` with a 0-dim `total`; tensors that are moved before
    the update. In a project it is a note where the callers give the argument on the CPU.

    ## Fix safety
    Safe in `forward`, where the old line failed on every machine with an accelerator; elsewhere unsafe.

    ## Proof
    The update raises on an accelerator; with `device=` it gives the CPU run's value.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types: only inputs may be CPU scalars).
    """

    code, name, severity = "TDL515", "cpu-tensor-accumulator", ERROR
    quiet_in = (in_program_for_the_host, with_hidden_gpus, in_tests, under_another_default_device)
    doubtful_in = (in_project_for_the_host,)
    fixable = "sometimes"

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        cpu, other, made = meeting.cpu, meeting.other, meeting.cpu.origin
        known = other.evidence >= Evidence.USAGE or other.device.name.startswith("next(")
        if meeting.role != "output" or not known or cpu.group is not None or cpu.attribute:
            return
        if not isinstance(made, ir.Call) or not owns(facts, made):
            return
        name = facts.callee(made)
        if name not in functions.FACTORIES and name not in functions.HOST_FACTORIES:
            return
        if _is_kept_on_the_host(meeting.op, facts) or _comes_in_pairs(meeting.op, facts):
            return
        certain = facts.in_forward or other.device.is_accelerator or other.moved is not None
        if not certain and prepares_data(facts):
            return
        expression = device_expression(meeting, facts)
        advice = how_to_make_there(made, expression, facts)
        safe = facts.in_forward and is_certainly_there(meeting, expression)

        def fix() -> NodeFix | None:
            if expression is None or name not in functions.FACTORIES or made.keyword("device") is not None:
                return None
            return make_there(made, expression, Ground.OLD_LINE_RAISED if safe else Ground.UNSEEN_CODE, facts)

        given = briefly(other).replace("a tensor", "one", 1)
        yield self.report(
            made,
            f"line {{0}} updates {cpu_tensor(made, facts)} with {given}; {advice}",
            detail="An output must be on the operands' device, even a 0-dim one: on an accelerator the update raises "
            f"{MISMATCH}.",
            severity=ERROR if certain else WARNING,
            related=(Mention(meeting.op, "here it is updated in place"),),
            fix=fix,
            holds=lambda: not facts.given_on_host(other.device),
            rests_on=premise_of(other, facts),
        )


def _target(op: ir.Op, facts: Facts) -> ir.Register | None:
    """The tensor that an in-place operation updates."""
    if isinstance(op, ir.AugmentedAssign):
        return op.target
    return facts.receiver(op) if isinstance(op, ir.Call) else None


def _is_kept_on_the_host(op: ir.Op, facts: Facts) -> bool:
    """True when the tensor goes to NumPy afterwards: the function works on the host on purpose."""
    name = facts.place(_target(op, facts)).partition(".")[0].partition("[")[0]
    return facts.frame is not None and bool(facts.frame.index.use(name).attributes & {"numpy", "tolist"})


def _comes_in_pairs(op: ir.Op, facts: Facts) -> bool:
    """True when both sides have several possibilities: they may come from the same branch."""
    if not isinstance(op, ir.AugmentedAssign):
        return False
    return bool(facts.value(op.target).others) and bool(facts.value(op.value).others)
