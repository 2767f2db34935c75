"""TDL505."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.flow.devices import differ
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.knowledge import methods as method_table
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, Mention, Report, Rule, on_any_call, on_meet, on_op
from torchdevlint.rules.structure import tensors_within
from torchdevlint.rules.tensors import factory_of_accelerator_scalar
from torchdevlint.rules.wording import MISMATCH, owns

_METHODS = method_table.TENSOR_POINTWISE | method_table.TENSOR_STRICT
_FUNCTIONS = functions.STRICT | functions.POINTWISE


class MixedDeviceOperation(Rule):
    """Finds operations on two tensors that are certainly on different devices.

    ## What it does
    Reports an operation where one tensor was made on the CPU and the other was put on a literally named accelerator, or where both were
    put on different accelerators.

    ## Why is this bad?
    Operations want one device: `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        weights = torch.ones(4, device="cuda:1")
        total = weights * scores.to("cuda:0")

    ## Use instead
        total = weights * scores.to(weights.device)

    ## When it stays silent
    0-dim CPU tensors in pointwise operations; index positions, `copy_` and `y[i] = t`; devices that the program computes (TDL504 reports
    factories that meet those).

    ## Proof
    The operation raises on a machine with the named accelerators; on one device it gives the CPU run's values.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types); aten/src/ATen/core/op_registration/adaption.h.
    """

    code, name, severity = "TDL505", "mixed-device-operation", ERROR

    @on_meet
    def check_meeting(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        if not takes_meeting(meeting, facts):
            return
        made = meeting.cpu.origin
        assert made is not None
        yield self.report(
            made if owns(facts, made) else meeting.op,
            f"a CPU tensor meets a tensor on `{meeting.other.device.name}` on line {{0}}: that raises {MISMATCH}; create it "
            f"there, or move one of them to the other's device",
            related=(Mention(meeting.op, f"here it meets a tensor on `{meeting.other.device.name}`"),),
        )

    @on_op(ir.Store)
    @on_op(ir.StoreAttribute)
    @on_op(ir.Return)
    def check_expression(self, op: ir.Op, facts: Facts) -> Iterator[Report]:
        """Binary operations within what is stored or returned."""
        register = op.value if isinstance(op, (ir.Store, ir.StoreAttribute, ir.Return)) else None
        pending = [register] if register is not None else []
        while pending:
            written = facts.definition(pending.pop())
            if isinstance(written, ir.Sequence):
                pending += [element.value for element in written.elements]
            elif isinstance(written, ir.Binary):
                pending += [written.left, written.right]
                yield from self._apart(written, [facts.value(written.left), facts.value(written.right)])

    @on_any_call
    def check_call(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        name = facts.callee(call)
        operands: list[Value] = []
        if name.startswith("."):
            if name[1:] not in _METHODS:
                return
            operands = [facts.value(facts.receiver(call))]
        elif name not in _FUNCTIONS:
            return
        for argument in call.arguments:
            if not argument.star and argument.keyword not in ("out", "generator"):
                operands += tensors_within(facts.value(argument.value))
        yield from self._apart(call, operands)

    def _apart(self, op: ir.Op, operands: list[Value]) -> Iterator[Report]:
        """Two accelerators of different index or type."""
        placed = [
            v
            for v in operands
            if v.kind is Kind.TENSOR and not v.others and v.device.is_accelerator and v.evidence >= Evidence.USAGE
        ]
        for value in placed[1:]:
            if differ(placed[0].device, value.device):
                moved = value.moved or placed[0].moved
                yield self._told(
                    op,
                    f"a tensor on `{placed[0].device.name}`",
                    f"one on `{value.device.name}`",
                    moved,
                    "here it was moved",
                )
                return

    def _told(self, op: ir.Op, left: str, right: str, place: ir.Op | None, note: str) -> Report:
        return self.report(
            op,
            f"{left} meets {right} in one operation: that raises {MISMATCH}; move one of them to the other's device",
            related=(Mention(place, note),) if place is not None else (),
        )


def takes_meeting(meeting: Meeting, facts: Facts) -> bool:
    """True for a CPU tensor against one on an accelerator that is named literally in this function (TDL504 leaves these to us)."""
    other = meeting.other
    return (
        meeting.role == "operand"
        and other.device.is_accelerator
        and other.evidence >= Evidence.USAGE
        and not meeting.cpu.attribute
        and meeting.cpu.group is None
        and not factory_of_accelerator_scalar.takes_meeting(meeting, facts)
    )
