"""TDL522."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.values import Evidence, Kind
from torchdevlint.program import ir
from torchdevlint.rules.cases import cpu_tensor
from torchdevlint.rules.premises import premise_of
from torchdevlint.rules.rule import ERROR, Mention, NodeFix, Report, Rule, on_meet
from torchdevlint.rules.structure import exports
from torchdevlint.rules.surroundings import (
    in_program_for_the_host,
    in_project_for_the_host,
    in_tests,
    under_another_default_device,
)
from torchdevlint.rules.wording import (
    MISMATCH,
    briefly,
    describe,
    device_expression,
    how_to_make_there,
    is_certainly_there,
    make_there,
    owns,
)

_READS = frozenset({".item", ".tolist"})
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.max", "builtins.min"})


class FactoryOfAcceleratorScalar(Rule):
    """Finds CPU tensors that are made from numbers read off an accelerator and that go back to it.

    ## What it does
    Reports `torch.arange(lengths.max())`, `torch.tensor(x.item())`, `torch.tensor(x.tolist())` and their kind without `device=` where the
    number comes from a tensor that may be on an
    accelerator and the new tensor meets one in an operation.

    ## Why is this bad?
    Reading the number brings it to the host, and a factory without `device=` makes its tensor there, whatever device the number came from:
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        positions = torch.arange(lengths.max())
        mask = positions[None, :] < lengths[:, None]

    ## Use instead
        positions = torch.arange(lengths.max(), device=lengths.device)

    ## When it stays silent
    `torch.tensor(t)` and `torch.as_tensor(t)` of a tensor `t`, which keep its device; 0-dim results in pointwise operations; results that
    are moved first. In a project it is a note where the callers give the argument on the CPU.

    ## Fix safety
    Safe in `forward`, where the old line failed on an accelerator and gives the same on the CPU; elsewhere unsafe.

    ## Proof
    The operation raises on an accelerator; with `device=` it gives the CPU run's values.

    ## References
    torch/utils/_device.py (_device_constructors).
    """

    code, name, severity = "TDL522", "factory-of-accelerator-scalar", ERROR
    quiet_in = (in_program_for_the_host, in_tests, under_another_default_device)
    doubtful_in = (in_project_for_the_host,)
    fixable = "sometimes"

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        made = meeting.cpu.origin
        if (
            meeting.role == "weight"
            or not isinstance(made, ir.Call)
            or not takes_meeting(meeting, facts)
            or exports(facts)
        ):
            return
        if meeting.cpu.rank is None and not meeting.strict:
            return
        expression = device_expression(meeting, facts)
        advice = how_to_make_there(made, expression, facts)

        def fix() -> NodeFix | None:
            if expression is None or facts.callee(made) not in functions.FACTORIES:
                return None
            safe = facts.in_forward and is_certainly_there(meeting, expression)
            return make_there(made, expression, Ground.OLD_LINE_RAISED if safe else Ground.UNSEEN_CODE, facts)

        yield self.report(
            made,
            f"{cpu_tensor(made, facts)} meets {briefly(meeting.other)} on line {{0}}; {advice}",
            detail="It takes a number from a tensor that may be on an accelerator, and makes its own on the CPU: on an accelerator the two "
            f"raise {MISMATCH}.",
            related=(Mention(meeting.op, f"here it meets {describe(meeting.other)}"),),
            fix=fix,
            rests_on=premise_of(meeting.other, facts),
        )


def takes_meeting(meeting: Meeting, facts: Facts) -> bool:
    """True when the CPU tensor was made here from a number of a tensor that may be on an accelerator."""
    made, cpu = meeting.cpu.origin, meeting.cpu
    if (
        not isinstance(made, ir.Call)
        or not owns(facts, made)
        or cpu.attribute
        or cpu.group is not None
        or meeting.role not in ("operand", "argument", "input")
    ):
        return False
    if facts.callee(made) not in functions.FACTORIES or meeting.other.evidence < Evidence.USAGE or made.has_splat:
        return False
    if made.keyword("out") is not None:
        return False
    return any(_is_read_off(argument.value, facts, 0) for argument in made.arguments if argument.keyword != "dtype")


def _is_read_off(register: ir.Register, facts: Facts, depth: int) -> bool:
    """True for an accelerator tensor used as a number, or a number read from one, also in arithmetic or a display."""
    if depth > 4:
        return False
    value, written = facts.value(register), facts.definition(register)
    if value.kind is Kind.TENSOR:
        return not value.others and value.device.may_be_accelerator and value.evidence >= Evidence.USAGE
    if isinstance(written, ir.Binary):
        return _is_read_off(written.left, facts, depth + 1) or _is_read_off(written.right, facts, depth + 1)
    if isinstance(written, ir.Sequence):
        return any(_is_read_off(element.value, facts, depth + 1) for element in written.elements)
    if isinstance(written, ir.Call):
        name, receiver = facts.callee(written), facts.receiver(written)
        if name in _READS and receiver is not None:
            return _is_read_off(receiver, facts, depth + 1)
        if name in _NUMBERS and written.positional(0) is not None:
            return any(_is_read_off(argument.value, facts, depth + 1) for argument in written.arguments)
    return False
