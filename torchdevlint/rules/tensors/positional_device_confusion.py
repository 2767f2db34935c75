"""TDL519."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.facts.certainly import is_certainly_device
from torchdevlint.facts.devices import TOP, from_string
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.values import Kind
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_call, on_method
from torchdevlint.stubs.knowledge import functions

_FACTORIES = tuple(sorted(functions.FACTORIES | functions.LIKE_FACTORIES))


class PositionalDeviceConfusion(Rule):
    """Finds a device, or a flag, in a position that means something else.

    ## What it does
    Reports `x.cuda(True)` and `x.to(device, True)` (a flag where a device or a dtype belongs), `x.to(True)`, and factories with the
    device among the positional arguments: `torch.zeros(2, 3, "cuda")`, `torch.tensor(data, device)`.

    ## Why is this bad?
    `TypeError: cuda(): argument 'device' (position 1) must be torch.device, not bool`, `TypeError: to() received an invalid
    combination of arguments`, `TypeError: tensor() takes 1 positional argument but 2 were given`, on every machine. `x.to(True)`
    raises nothing: it casts a tensor to bool.

    ## Example
        x = x.to(device, True)

    ## Use instead
        x = x.to(device, non_blocking=True)

    ## When it stays silent
    `x.to(dtype, True)` and `x.to(other, True)`, where the second position is `non_blocking`; values that are not known.

    ## Fix safety
    The keyword that was meant is safe where the old line raised. `x.to(True)` gets no fix.

    ## Proof
    The lines raise TypeError on every machine; with the keyword they run.

    ## References
    torch/csrc/autograd/python_variable.cpp (cuda), torch/csrc/autograd/utils/python_arg_parsing.h (parse_to_conversion).
    """

    code, name, severity = "TDL519", "positional-device-confusion", ERROR
    fixable = "sometimes"

    @on_method("cuda")
    def check_cuda(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        flag = _written_flag(call.positional(0), facts)
        if flag is None or facts.value(facts.receiver(call)).kind is Kind.SYMBOL:
            return
        yield self.report(
            call,
            f"the first argument of `.cuda()` is the device, not `{flag}`; write `.cuda(non_blocking={flag})`",
            detail="This raises \"argument 'device' (position 1) must be torch.device, not bool\".",
            fix=lambda: _flag_by_name(call, 0, flag) if len(call.arguments) == 1 else None,
        )

    @on_method("to")
    def check_to(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        receiver = facts.value(facts.receiver(call))
        first, second = call.positional(0), call.positional(1)
        if first is None:
            return
        if _written_flag(first, facts) is not None and receiver.kind is Kind.TENSOR:
            yield self.report(call, "`.to(True)` casts the tensor to bool and moves nothing; name the device")
            return
        flag = _written_flag(second, facts)
        if flag is None or not _is_device(first, facts):
            return
        yield self.report(
            call,
            f"the argument behind the device is the dtype, not `{flag}`; write `non_blocking={flag}`",
            detail='This raises "to() received an invalid combination of arguments".',
            fix=lambda: _flag_by_name(call, 1, flag) if len(call.arguments) == 2 else None,
        )

    @on_call(*_FACTORIES)
    def check_factory(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        for position in range(1, call.positional_count):
            register = call.positional(position)
            if register is None or not (_is_spelled_device(register, facts) or is_certainly_device(register, facts)):
                continue
            yield self.report(
                call,
                f"`{facts.callee(call)}` takes its device by keyword alone; write `device=`",
                detail="Here it raises TypeError.",
                fix=lambda position=position: _device_by_name(call, position),  # type: ignore[misc]
            )
            return


def _written_flag(register: ir.Register | None, facts: Facts) -> bool | None:
    """The literal True or False in a position."""
    written = facts.definition(register)
    return written.value if isinstance(written, ir.Constant) and isinstance(written.value, bool) else None


def _is_device(register: ir.Register, facts: Facts) -> bool:
    value = facts.value(register)
    if value.kind is Kind.STRING:
        return True
    return value.kind is Kind.DEVICE or is_certainly_device(register, facts)


def _is_spelled_device(register: ir.Register, facts: Facts) -> bool:
    text, value = facts.constant(register), facts.value(register)
    chosen = value.kind is Kind.STRING and value.device.may_be_accelerator
    return chosen or (isinstance(text, str) and from_string(text) is not TOP)


def _flag_by_name(call: ir.Call, position: int, flag: bool) -> NodeFix | None:
    edits = builders.name_argument(call, position, "non_blocking")
    return NodeFix(Ground.OLD_LINE_RAISED, f"Write `non_blocking={flag}`", edits)


def _device_by_name(call: ir.Call, position: int) -> NodeFix | None:
    edits = builders.name_argument(call, position, "device")
    return NodeFix(Ground.OLD_LINE_RAISED, "Pass the device by keyword", edits)
