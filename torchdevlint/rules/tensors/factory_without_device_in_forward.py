"""TDL504."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.fixes.grounds import Ground
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.module_calls import may_be_on_host
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.cases import (
    comes_from_host,
    converts_argument,
    cpu_tensor,
    flags_before,
    is_for_models_without_parameters,
    is_known_empty,
    is_made_of_elements,
    is_start_of_choice,
    is_the_same_variable,
    is_told_apart,
    names_of,
)
from torchdevlint.rules.factories import is_factory, is_of_parameter, judged
from torchdevlint.rules.inferred import Inferred
from torchdevlint.rules.premises import Premise, premise_of
from torchdevlint.rules.rule import (
    ERROR,
    INFO,
    WARNING,
    Mention,
    NodeFix,
    Report,
    on_any_call,
    on_file,
    on_meet,
    on_op,
)
from torchdevlint.rules.structure import draws, is_test_file, operations
from torchdevlint.rules.surroundings import (
    in_branch_not_taken,
    in_data_folder,
    in_exporter,
    in_program_for_the_host,
    in_project_for_the_host,
    in_self_test,
    in_tests,
    in_unnamed_code,
    in_unreachable_code,
    under_another_default_device,
    with_hidden_gpus,
    with_trainers_on_host,
)
from torchdevlint.rules.tensors import default_device_gap, factory_of_accelerator_scalar, mixed_device_operation
from torchdevlint.rules.wording import (
    MISMATCH,
    briefly,
    describe,
    device_expression,
    how_to_make_there,
    is_certainly_there,
    is_data_code,
    is_host_argument,
    is_host_name,
    is_placeholder,
    make_there,
    owns,
    takes_device,
)


class FactoryWithoutDeviceInForward(Inferred):
    """Finds tensors that are created on the CPU and then meet a tensor on somebody else's device.

    ## What it does
    Follows tensors made by a factory without `device=` (`torch.zeros`, `torch.arange`, `torch.from_numpy`, ...) to the operation where
    they meet an argument, a parameter, a buffer or the output of a submodule: an error in `forward` and what it calls, a warning elsewhere.

    ## Why is this bad?
    Once the module or the argument is on an accelerator the operation raises `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        def forward(self, x):
            return x * torch.ones(x.size(0), 1)

    ## Use instead
        def forward(self, x):
            return x * torch.ones(x.size(0), 1, device=x.device)

    ## When it stays silent
    0-dim tensors in pointwise operations; tensors that are moved before the operation, or are only an index, a size or the source of
    `y[i] = t`; code under a default device; operands that are not known to be tensors, or that the callers give on the CPU. A function that
    draws gets a note, and so does a project whose callers all give the argument on the CPU.

    ## Fix safety
    `device=`, or `.to(...)`, is safe in `forward` where it names the device of the tensor that is met: on the CPU nothing changes,
    elsewhere the old line failed. It is unsafe for a model of unknown class and outside of `forward`.

    ## Proof
    The forward pass of a module on an accelerator raises; with `device=x.device` it gives the values of the CPU run.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types), aten/src/ATen/core/op_registration/adaption.h.
    """

    code, name, severity = "TDL504", "factory-without-device-in-forward", ERROR
    quiet_in = (
        in_program_for_the_host,
        in_branch_not_taken,
        with_hidden_gpus,
        with_trainers_on_host,
        in_tests,
        in_self_test,
        in_data_folder,
        in_exporter,
        in_unreachable_code,
        under_another_default_device,
    )
    doubtful_in = (in_unnamed_code, in_project_for_the_host)
    fixable = "sometimes"
    yields_to = ("TDL401",)

    def __init__(self) -> None:
        self._returned: dict[int, list[tuple[ir.Return, Value, Facts]]] = {}

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        made = meeting.cpu.origin
        if not isinstance(made, ir.Call) or meeting.cpu.attribute or meeting.role == "weight":
            return
        if meeting.cpu.group is not None or not is_factory(made, facts) or facts.tracing:
            return
        if _is_for_another_rule(meeting, facts) or _is_start_of_sum(meeting, facts):
            return
        if (
            meeting.role == "input"
            and not facts.in_forward
            and (facts.class_summary is None or meeting.other.parameter)
        ):
            return  # an input of a model that was moved here, or given, is TDL401's
        severity = judged(meeting, facts) if not _is_moved_at_once(meeting, facts) else None
        if severity is WARNING and draws(facts):
            severity = INFO
        if severity is None or is_the_same_variable(meeting, facts) or is_told_apart(made, meeting.other, facts):
            return
        expression = device_expression(meeting, facts)
        safe = severity is ERROR and facts.in_forward and is_certainly_there(meeting, expression)

        def fix() -> NodeFix | None:
            if expression is None or made.keyword("device") is not None or not is_factory(made, facts):
                return None
            return make_there(made, expression, Ground.OLD_LINE_RAISED if safe else Ground.UNSEEN_CODE, facts)

        advice = how_to_make_there(made, expression, facts)
        yield self.report(
            made,
            f"{cpu_tensor(made, facts)} meets {briefly(meeting.other)} on line {{0}}; {advice}",
            detail=f"On an accelerator that raises {MISMATCH}.",
            severity=severity,
            related=(Mention(meeting.op, f"here it meets {describe(meeting.other)}"),),
            fix=fix,
            holds=lambda: facts.in_forward or not is_host_argument(meeting.other, facts),
            rests_on=premise_of(meeting.other, facts),
        )

    @on_any_call
    def check_argument(self, call: ir.Call, facts: Facts) -> Iterator[Report]:
        """A variable that is made on a device on one path and on the CPU on another, and is given on."""
        several = [argument for argument in call.arguments if facts.value(argument.value).others]
        if not several:
            return
        callee = facts.value(call.function)
        if is_data_code(facts) or facts.in_setup or callee.kind is Kind.FUNCTION:
            return
        if callee.kind is Kind.SYMBOL and not callee.symbol.startswith("torch."):
            return
        for argument in several:
            if callee.kind is Kind.MODULE and facts.frame is not None:
                at = call.arguments.index(argument)
                if may_be_on_host(facts.frame, callee, argument, at):
                    continue  # its forward moves it
            value = facts.value(argument.value)
            placed = [
                part
                for part in value.parts
                if part.kind is Kind.TENSOR and part.device.may_be_accelerator and part.evidence >= Evidence.STRONG
            ]
            for part in value.parts:
                made = part.origin
                if made is not None and is_placeholder(made, facts):
                    continue
                if (
                    (
                        placed
                        and part.is_fresh_cpu
                        and part.rank != 0
                        and isinstance(made, ir.Call)
                        and owns(facts, made)
                        and is_factory(made, facts)
                        and not converts_argument(made, facts)
                        and not is_told_apart(made, placed[0], facts)
                        and not is_start_of_choice(made, argument.value, facts)
                        and not is_for_models_without_parameters(made, facts)
                    )
                    and not part.attribute
                    and part.group is None
                ):
                    spelled = facts.place(argument.value)
                    yield self._inconsistent(
                        made, placed[0], facts, f"`{spelled}` is" if spelled else "this argument is"
                    )

    @on_op(ir.Return)
    def remember(self, op: ir.Return, facts: Facts) -> Iterator[Report]:
        """What each path of a function returns; compared at the end."""
        if op.value is not None and facts.frame is not None:
            value = facts.value(op.value)
            if value.kind is Kind.TENSOR:
                self._returned.setdefault(id(facts.body), []).append((op, value, facts))
            elif value.kind is Kind.LIST and value.element is not None and value.element.others:
                yield from self._mixed(value.element, facts)
            elif value.kind is Kind.TUPLE and value.items:
                yield from self._beside(op.value, value.items, facts)

    def _beside(self, register: ir.Register, items: tuple[Value, ...], facts: Facts) -> Iterator[Report]:
        """A tuple of tensors that the function puts where it was asked to, and of one that it made beside them on the CPU."""
        display = facts.definition(register)
        if not isinstance(display, ir.Sequence) or len(display.elements) != len(items):
            return
        parts = [(element.value, item) for element, item in zip(display.elements, items, strict=True)]
        placed = [item for part, item in parts if _is_where_asked(item, facts) and _is_placed_by_hand(part, facts)]
        if not placed or facts.in_setup or is_test_file(facts):
            return
        expression = placed[0].device.name
        spelled = all(word.isidentifier() for word in expression.split("."))
        for part, item in parts:
            made = item.origin
            if not item.is_fresh_cpu or not item.rank or not isinstance(made, ir.Call) or not owns(facts, made):
                continue
            if part != made.dst and facts.place(part) not in names_of(made, facts):
                continue
            if not is_factory(made, facts) or is_placeholder(made, facts) or is_host_name(facts.place(part)):
                continue
            yield self.report(
                made,
                f"this CPU tensor is returned beside {briefly(placed[0])}; "
                f"create it {f'with `device={expression}`' if spelled else 'on the same device'}",
                detail=f"On an accelerator the results of the function are on two devices, and mixing them raises {MISMATCH}.",
                severity=WARNING,
                holds=lambda: not is_host_argument(placed[0], facts),
                rests_on=premise_of(placed[0], facts),
                fix=lambda made=made: _beside_fix(made, expression if spelled else None, facts),  # type: ignore[misc]
            )

    def _mixed(self, element: Value, facts: Facts) -> Iterator[Report]:
        """A list that is filled with CPU tensors first and with results afterwards, wherever there are any."""
        placed = [part for part in element.parts if part.origin is None and is_of_parameter(part, facts)]
        for part in element.parts:
            made = part.origin
            if (
                placed
                and part.is_fresh_cpu
                and part.rank != 0
                and isinstance(made, ir.Call)
                and is_factory(made, facts)
                and not (made.positional_count == 1 and is_placeholder(made, facts))
            ):
                yield self._inconsistent(made, placed[0], facts, "the returned list holds")

    @on_file
    def finish(self, facts: Facts) -> Iterator[Report]:
        """Functions that return the device of an argument on one path and a CPU tensor on another."""
        for returned in self._returned.values():
            parts = [(op, part, where) for op, value, where in returned for part in value.parts]
            following = [(op, part) for op, part, _ in parts if _follows_an_argument(part)]
            if not following:
                continue
            for op, part, where in parts:
                made, other = part.origin, following[0][1]
                if (
                    part.is_fresh_cpu
                    and isinstance(made, ir.Call)
                    and owns(where, made)
                    and is_factory(made, where)
                    and not converts_argument(made, where)
                    and not is_told_apart(made, other, where)
                    and not is_known_empty(made, where)
                    and not is_made_of_elements(made, other, where)
                    and not comes_from_host(made, where)
                    and not all(_is_flagged_apart(op, beside, where) for beside, _ in following)
                ):
                    yield self._inconsistent(made, other, where, "the function returns", scalar=part.rank == 0)

    def _inconsistent(self, made: ir.Call, other: Value, facts: Facts, subject: str, *, scalar: bool = False) -> Report:
        name = other.device.name
        expression = name if all(part.isidentifier() for part in name.split(".")) else None
        mixing = "`torch.stack`, `torch.cat` or a collective of both" if scalar else "mixing them"
        # What a function returns is mixed by its callers, if by anybody.
        rests_on = Premise(facts.body, "") if subject == "the function returns" else premise_of(other, facts)
        return self.report(
            made,
            f"here {subject} a CPU tensor, elsewhere {briefly(other).replace('a tensor', 'one', 1)}; create it on the same device",
            detail=f"On an accelerator the paths give tensors on two devices, and {mixing} raises {MISMATCH}.",
            severity=WARNING,
            holds=lambda: not is_host_argument(other, facts),
            rests_on=rests_on,
            fix=lambda: (
                make_there(made, expression, Ground.UNSEEN_CODE, facts)
                if expression and takes_device(made, facts)
                else None
            ),
        )


def _is_where_asked(item: Value, facts: Facts) -> bool:
    """True for a tensor that was made or moved to where an argument says: `device`, or the device of a tensor."""
    name = item.device.name.removesuffix(".device")
    return (
        item.kind is Kind.TENSOR
        and name != facts.analysis.index_of(facts.body).self_name
        and not item.others
        and item.device.place == "sym"
        and item.evidence >= Evidence.STRONG
        and item.rank != 0
        and any(parameter.name == name for parameter in facts.body.parameters)
    )


def _beside_fix(made: ir.Call, expression: str | None, facts: Facts) -> NodeFix | None:
    if expression is None or not takes_device(made, facts):
        return None
    return make_there(made, expression, Ground.UNSEEN_CODE, facts)


def _is_start_of_sum(meeting: Meeting, facts: Facts) -> bool:
    """True for the 0-dim start of a sum that a module gets: `total = torch.tensor(0.0)`, and `total = total + x` in a loop before."""
    register = next((a.value for a in meeting.op.arguments), None) if isinstance(meeting.op, ir.Call) else None
    written = facts.definition(register)
    return (
        meeting.role == "input"
        and meeting.cpu.rank == 0
        and isinstance(written, ir.Load)
        and len(facts.index.bound_to(written.name)) > 1
    )


def _is_placed_by_hand(register: ir.Register, facts: Facts) -> bool:
    """True for `x.to(device)`, for a factory with `device=`, and for a name that is bound to one of these alone."""
    written = facts.definition(register)
    if isinstance(written, ir.Load):
        written = facts.index.bound_once(written.name)
    if not isinstance(written, ir.Call):
        return False
    return facts.callee(written) in (".to", ".cuda") or written.keyword("device") is not None


def _is_moved_at_once(meeting: Meeting, facts: Facts) -> bool:
    """True for `torch.cat([zeros, x]).to(device)`: who moves the result there has parts on the CPU."""
    if not isinstance(meeting.op, ir.Call) or meeting.other.moved is not None or not meeting.other.parameter:
        return False
    return any(
        isinstance(op, ir.Attribute) and op.object == meeting.op.dst and op.name in ("to", "cuda")
        for op in operations(facts.body)
    )


def _is_for_another_rule(meeting: Meeting, facts: Facts) -> bool:
    """One finding per place: TDL506, TDL515, TDL522, TDL505 and TDL516 speak of these meetings."""
    return (
        (meeting.role == "index" and meeting.other.evidence >= Evidence.USAGE)
        or meeting.role == "output"
        or factory_of_accelerator_scalar.takes_meeting(meeting, facts)
        or mixed_device_operation.takes_meeting(meeting, facts)
        or default_device_gap.takes_meeting(meeting)
    )


def _is_flagged_apart(op: ir.Return, beside: ir.Return, facts: Facts) -> bool:
    """True for returns on the two sides of a flag: who calls with one side gets one device."""
    others = flags_before(beside, facts)
    return any((name, not side) in others for name, side in flags_before(op, facts))


def _follows_an_argument(part: Value) -> bool:
    """True for a tensor that lives where an annotated (or clearly used) argument of the function does."""
    return (
        part.device.place == "sym"
        and part.device.name.endswith(".device")
        and part.evidence >= Evidence.STRONG
        and part.origin is None
        and part.device.name != f"self.{part.attribute}.device"
    )
