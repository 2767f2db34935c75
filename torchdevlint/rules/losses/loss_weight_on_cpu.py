"""TDL301."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.findings import Severity
from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import modules
from torchdevlint.flow.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, on_file, on_meet, on_op
from torchdevlint.rules.surroundings import in_program_for_the_host, in_project_for_the_host
from torchdevlint.rules.wording import MISMATCH


class LossWeightOnCpu(Inferred):
    """Finds loss modules whose class weights stay on the CPU.

    ## What it does
    Reports `nn.CrossEntropyLoss(weight=w)` and the other losses with `weight=` or `pos_weight=` where the tensor is created on the CPU, the
    criterion is never moved, and the same function moves a model or inputs.

    ## Why is this bad?
    The weight is a buffer of the loss module and stays on the CPU until the module is moved. Given an accelerator's logits, the loss raises
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))

    ## Use instead
        criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0])).to(device)

    ## When it stays silent
    A criterion that is an attribute of an `nn.Module` (it moves with it), one that is moved itself, a 0-dim `pos_weight`, Python numbers, default
    devices, programs that never leave the CPU.

    ## Fix safety
    `.to(device)` is safe when a device is in scope: `Module.to` moves the buffer, on the CPU it does nothing.

    ## Proof
    A weighted loss on an accelerator's logits raises; moved, it gives the CPU run's value.

    ## References
    torch/nn/modules/loss.py (_WeightedLoss registers the weight as a buffer).
    """

    code, name, severity = "TDL301", "loss-weight-on-cpu", ERROR
    quiet_in = (in_program_for_the_host,)
    doubtful_in = (in_project_for_the_host,)
    needs = tuple(sorted(name.rpartition(".")[2] for name in modules.WEIGHTED_LOSSES))
    fixable = "sometimes"

    def __init__(self) -> None:
        self._told: set[int] = set()
        self._moving: set[int] = set()
        self._pending: list[tuple[ir.Op, Value, Facts]] = []

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        if (
            meeting.role != "weight"
            or meeting.module is None
            or meeting.module.origin is None
            or meeting.other.device.place == "top"
        ):
            return
        yield self._report(
            meeting.module.origin,
            meeting.module,
            facts,
            ERROR,
            Mention(meeting.op, "here it meets an accelerator's tensors"),
        )

    @on_op(ir.Store)
    def remember(self, store: ir.Store, facts: Facts) -> None:
        """A criterion bound to a name; whether it is moved is known at the end."""
        value = facts.value(store.value)
        weight = value.element
        if (
            (
                value.kind is Kind.MODULE
                and value.origin is not None
                and weight is not None
                and weight.is_fresh_cpu
                and weight.rank != 0
            )
            and isinstance(facts.definition(store.value), ir.Call)
            and not value.device.may_be_accelerator
        ):
            self._pending.append((value.origin, value, facts))

    @on_file
    def finish(self, facts: Facts) -> Iterator[Report]:
        """Criteria that nothing moved, in functions that move other things and hand the criterion on."""
        for built, value, where in self._pending:
            frame = where.frame
            if frame is None or id(built) in self._told or frame.exit_env is None or "@" + value.ref in frame.exit_env:
                continue
            moved = [
                name
                for name, state in frame.exit_env.items()
                if name[0] == "@" and not name.startswith("@opt") and state.device.place != "cpu"
            ]
            if moved and frame.body.kind in ("function", "module"):
                yield self._report(built, value, where, WARNING, None)

    def _report(self, built: ir.Op, value: Value, facts: Facts, severity: Severity, met: Mention | None) -> Report:
        self._told.add(id(built))
        device = facts.nearest_device(built)
        return self.report(
            built,
            f"the weight of this `{value.symbol.removeprefix('torch.')}` stays on the CPU; move the loss with `.to({device or 'device'})`",
            detail=f"Nothing moves the loss: on an accelerator's logits it raises {MISMATCH}.",
            severity=severity,
            related=(met,) if met is not None else (),
            fix=lambda: _fix(built, device),
        )


def _fix(built: ir.Op, device: str | None) -> NodeFix | None:
    from torchdevlint.fixes import builders

    edits = builders.wrap_method(built, "to", device) if device else None
    return NodeFix(Ground.MOVE_DOES_NOTHING, f"Move the loss with `.to({device})`", edits) if edits else None
