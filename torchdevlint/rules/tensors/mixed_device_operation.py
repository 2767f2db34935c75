"""TDL505."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow import class_shape
from torchdevlint.flow.devices import differ
from torchdevlint.flow.facts import ClassSummary, Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.knowledge import methods as method_table
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.rule import ERROR, WARNING, Mention, NodeFix, Report, on_any_call, on_meet, on_op
from torchdevlint.rules.structure import is_test_file, operations, tensors_within
from torchdevlint.rules.surroundings import (
    in_data_folder,
    in_program_for_the_host,
    in_project_for_the_host,
    in_tests,
    under_another_default_device,
)
from torchdevlint.rules.tensors import factory_of_accelerator_scalar
from torchdevlint.rules.wording import MISMATCH, owns

_METHODS = method_table.TENSOR_POINTWISE | method_table.TENSOR_STRICT
_FUNCTIONS = functions.STRICT | functions.POINTWISE


class MixedDeviceOperation(Inferred):
    """Finds operations on two tensors that are on different devices.

    ## What it does
    Reports an operation where one tensor was made on the CPU and the other was put on a literally named accelerator, or where both were
    put on different accelerators.

    A metric of pytorch-ignite keeps its sums on a device of its own, `self._device`, by default the CPU, and gets in `update` what the engine gave,
    where the model is. `self._sum += y.sum()` is a warning there.

    ## Why is this bad?
    Operations want one device: `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        weights = torch.ones(4, device="cuda:1")
        total = weights * scores.to("cuda:0")

    ## Use instead
        total = weights * scores.to(weights.device)

    ## When it stays silent
    0-dim CPU tensors in pointwise operations; index positions, `copy_` and `y[i] = t`; devices that the program computes (TDL504 reports
    factories that meet those). In metrics: values that are moved or become Python numbers, and metrics that choose their device themselves.

    ## Fix safety
    Only a value that a metric adds to its state is moved: safe where it is annotated as a tensor, for on one device `.to` does nothing, and
    on two the old line failed; else unsafe.

    ## Proof
    The operation raises on a machine with the named accelerators; on one device it gives the CPU run's values. That an update in
    place raises where the sum is on the CPU, the program of TDL515 shows.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types); aten/src/ATen/core/op_registration/adaption.h; ignite/metrics/metric.py (`Metric`,
    `iteration_completed`).
    """

    code, name, severity = "TDL505", "mixed-device-operation", ERROR
    quiet_in = (in_program_for_the_host, in_tests, in_data_folder, under_another_default_device)
    doubtful_in = (in_project_for_the_host,)
    fixable = "sometimes"

    @on_meet
    def check_meeting(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        if not takes_meeting(meeting, facts):
            return
        made = meeting.cpu.origin
        assert made is not None
        yield self.report(
            made if owns(facts, made) else meeting.op,
            f"a CPU tensor meets one on `{meeting.other.device.name}` on line {{0}}; create it there, or move one of them",
            detail=f"That raises {MISMATCH}.",
            related=(Mention(meeting.op, f"here it meets a tensor on `{meeting.other.device.name}`"),),
        )

    @on_op(ir.AugmentedAssign)
    def check_state(self, op: ir.AugmentedAssign, facts: Facts) -> Iterator[Report]:
        """Sums on a metric's own device that take what `update` was given."""
        state, value, summary = facts.value(op.target), facts.value(op.value), facts.class_summary
        if state.kind is not Kind.TENSOR or state.device.name != _OWN_DEVICE or state.others or summary is None:
            return
        given = _where_given(value, facts)
        if not given or not class_shape.is_ignite_metric(summary) or not _is_called_by_ignite(summary, facts):
            return
        if not _is_on_cpu_by_default(summary, facts) or _compares_devices(facts) or is_test_file(facts):
            return
        made = next((store.op for store in summary.stores_of(state.attribute) if not store.value.attribute), None)
        if made is None:
            return

        def fix() -> NodeFix | None:
            from torchdevlint.fixes import builders

            safe = Ground.MOVE_DOES_NOTHING if value.evidence >= Evidence.STRONG else Ground.UNKNOWN_KIND
            edits = builders.wrap_method(facts.definition(op.value), "to", _OWN_DEVICE)
            return NodeFix(safe, f"Move the value with `.to({_OWN_DEVICE})`", edits) if edits else None

        yield self.report(
            op,
            f"`self.{state.attribute}` is on the metric's own device and takes `{given}` in place; add `.to({_OWN_DEVICE})`",
            detail=f"That device (line {{0}}) is the CPU by default, and `{given}` is where the model is: on an accelerator the update raises "
            f"{MISMATCH}, for an output must be on the operands' device, even a 0-dim one.",
            severity=WARNING,
            related=(Mention(made, f"here it is made on `{_OWN_DEVICE}`"),),
            fix=fix,
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
            f"{left} meets {right} in one operation; move one of them to the other's device",
            detail=f"That raises {MISMATCH}.",
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


_OWN_DEVICE = "self._device"  # of a metric of pytorch-ignite


def _where_given(value: Value, facts: Facts) -> str:
    """The argument whose device a tensor still has, or ""."""
    if value.kind is not Kind.TENSOR or value.moved is not None or value.others or value.evidence < Evidence.USAGE:
        return ""
    of = value.device.name.removesuffix(".device").removesuffix("[0]")
    return of if any(parameter.name == of != "self" for parameter in facts.body.parameters) else ""


def _is_called_by_ignite(summary: ClassSummary, facts: Facts) -> bool:
    """True for `update`, and for what the `update` of a base in ignite calls."""
    name = facts.body.name
    return name == "update" or (summary.method("update") is None and name not in facts.analysis.call_sites)


def _is_on_cpu_by_default(summary: ClassSummary, facts: Facts) -> bool:
    """False for a metric whose caller must name the device, or that chooses it itself."""
    init = summary.method("__init__")
    if summary.stores_of("_device"):
        return False
    if init is None or init.parent is None:
        return True
    asked = next((parameter for parameter in init.parameters if parameter.name == "device"), None)
    if asked is None:
        return not any(
            isinstance(op, ir.Call) and op.argument("device", 1) is not None and _is_init(op, init, facts)
            for op in operations(init)
        )
    definitions = facts.analysis.index_of(init.parent).definitions
    default = definitions[asked.default] if asked.default is not None else None
    if isinstance(default, ir.Call):
        named = default.positional(0)  # `torch.device("cpu")`
        default = definitions[named] if named is not None else None
    return isinstance(default, ir.Constant) and default.value in ("cpu", None)


def _is_init(call: ir.Call, body: ir.Body, facts: Facts) -> bool:
    written = facts.analysis.index_of(body).definitions[call.function]
    return isinstance(written, ir.Attribute) and written.name == "__init__"


def _compares_devices(facts: Facts) -> bool:
    """True for a method that asks where a tensor is before it works on it."""
    return any(
        isinstance(op, ir.Compare)
        and any(
            isinstance(written := facts.definition(register), ir.Attribute) and written.name == "device"
            for register in (op.left, *op.comparators)
        )
        for op in operations(facts.body)
    )
