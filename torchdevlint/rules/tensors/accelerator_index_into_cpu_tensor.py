"""TDL506."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.premises import premise_of
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, on_meet
from torchdevlint.rules.structure import prepares_data
from torchdevlint.rules.surroundings import (
    in_data_folder,
    in_program_for_the_host,
    in_project_for_the_host,
    in_tests,
    in_unnamed_code,
    in_unreachable_code,
    under_another_default_device,
)
from torchdevlint.rules.wording import briefly, owns

_TEXT = '"indices should be either on cpu or on the same device as the indexed tensor (cpu)"'


class AcceleratorIndexIntoCpuTensor(Inferred):
    """Finds CPU tensors that are indexed by an index or mask on an accelerator.

    ## What it does
    Follows tensors that are made on the CPU to `table[index]` where the index or mask comes from an argument, a
    model or a move to a device.

    ## Why is this bad?
    A CPU tensor takes indices on the CPU only: `RuntimeError: indices should be either on cpu or on the same device as the indexed tensor
    (cpu)`. (The other direction is
    allowed: a tensor on an accelerator takes indices on the CPU, at the price of a copy.)

    ## Example
        labels = torch.eye(classes)[targets.to(device)]

    ## Use instead
        labels = torch.eye(classes, device=device)[targets.to(device)]

    ## When it stays silent
    Assignments `table[index] = value`; slices, integers and 0-dim indices; an index that is on the CPU or of which nothing is known; plain
    attributes of modules (TDL603). In a project it is a note where the callers give the argument on the CPU.

    ## Fix safety
    The index is brought to the CPU, which is safe: on the CPU `.cpu()` returns the index itself, elsewhere the old line failed.

    ## Proof
    Indexing raises on an accelerator; with the index on the CPU it gives the CPU run's values.

    ## References
    aten/src/ATen/native/TensorAdvancedIndexing.cpp (check_indices_on_cpu_or_selfdevice).
    """

    code, name, severity = "TDL506", "accelerator-index-into-cpu-tensor", ERROR
    quiet_in = (in_program_for_the_host, in_tests, in_data_folder, in_unreachable_code, under_another_default_device)
    doubtful_in = (in_unnamed_code, in_project_for_the_host)
    fixable = "sometimes"

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        cpu, other = meeting.cpu, meeting.other
        if meeting.role != "index" or other.evidence < Evidence.USAGE or cpu.group is not None or cpu.others:
            return
        summary = facts.class_summary
        if cpu.attribute and summary is not None and summary.is_module:
            return
        made = cpu.origin
        if not isinstance(made, ir.Call) or not (owns(facts, made) or cpu.attribute):
            return
        certain = other.device.is_accelerator or other.moved is not None or facts.in_forward
        if not certain and prepares_data(facts):
            return
        severity = ERROR if certain else WARNING
        if isinstance(meeting.op, ir.Subscript):
            index = _index(meeting.op, facts)
            yield self.report(
                meeting.op,
                f"a CPU tensor is indexed with {briefly(other)}; bring the index to the CPU with `.cpu()`",
                detail=f"The tensor is made on line {{0}}. On an accelerator that raises {_TEXT}. It could also be created on the index's device.",
                severity=severity,
                related=(Mention(made, "here the CPU tensor is made"),),
                fix=lambda: _index_on_cpu(index),
                rests_on=premise_of(other, facts),
            )


def _index(op: ir.Subscript, facts: Facts) -> ir.Op | None:
    """The one tensor among the indices, or None."""
    written = facts.definition(op.index)
    registers = [e.value for e in written.elements] if isinstance(written, ir.Sequence) else [op.index]
    tensors = [r for r in registers if facts.value(r).kind is Kind.TENSOR]
    return facts.definition(tensors[0]) if len(tensors) == 1 else None


def _index_on_cpu(index: ir.Op | None) -> NodeFix | None:
    from torchdevlint.fixes import builders

    edits = builders.wrap_method(index, "cpu") if index is not None else None
    return NodeFix(Ground.MOVE_DOES_NOTHING, "Bring the index to the CPU", edits) if edits else None
