"""TDL504."""

from __future__ import annotations

from collections.abc import Iterator

from torchdevlint.findings import Applicability, Severity
from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.index import NameUse
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.knowledge.modules import LEAF_MODULES_WITH_WEIGHTS
from torchdevlint.flow.values import Evidence, Kind, Value
from torchdevlint.program import ir
from torchdevlint.rules.order import block_of, deciding_sides, deciding_tests
from torchdevlint.rules.rule import (
    ERROR,
    INFO,
    WARNING,
    Mention,
    NodeFix,
    Report,
    Rule,
    on_any_call,
    on_file,
    on_meet,
    on_op,
)
from torchdevlint.rules.structure import converts_on_host, draws, exports, is_test_file, operations
from torchdevlint.rules.surroundings import (
    in_data_folder,
    in_exporter,
    in_tests,
    in_unreached_code,
    under_another_default_device,
)
from torchdevlint.rules.tensors import default_device_gap, factory_of_accelerator_scalar, mixed_device_operation
from torchdevlint.rules.wording import (
    MISMATCH,
    describe,
    device_expression,
    factory_name,
    give_device,
    is_data_code,
    is_host_argument,
    is_host_name,
    is_placeholder,
    owns,
)


class FactoryWithoutDeviceInForward(Rule):
    """Finds tensors that are created on the CPU and then meet a tensor on somebody else's device.

    ## What it does
    Follows tensors made by a factory without `device=` (`torch.zeros`, `torch.arange`, `torch.from_numpy`, ...) to the operation where
    they meet an argument, a parameter, a buffer or the output of a submodule. In `forward` and what it calls this is an error,
    in other functions a warning. So is a tensor that a function returns beside others which it puts on the device that it was asked for.

    ## Why is this bad?
    The code works as long as everything is on the CPU. Once the module or the argument is on an accelerator the operation raises
    `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
        def forward(self, x):
            mask = torch.ones(x.size(0), 1)
            return x * mask

    ## Use instead
        def forward(self, x):
            mask = torch.ones(x.size(0), 1, device=x.device)
            return x * mask

    ## When it stays silent
    0-dim tensors in pointwise operations (PyTorch lets them through); tensors that are moved before the operation, also on a
    condition; tensors that are only an index, a size or the source of an assignment `y[i] = t`; code under a default device
    (`torch.set_default_device`, `with torch.device(...)`); operands that are not known to be tensors. Outside of `forward`: an argument
    that the function itself gives to `.numpy()`, or that every caller in the file gives on the CPU or leaves to its default None; an array that is
    converted (`if isinstance(x, np.ndarray): x = torch.from_numpy(x)`); a tensor that is made where the argument is None or, by
    `isinstance`, no tensor; the start of a choice (`y = torch.tensor([0])` before several branches give `y` its value); probes of which only the
    shape is read; models that the same method makes; tests; functions that export a model; functions that call `.numpy()` and
    speak of no device. A function that draws, or whose result a function of the file draws, gets an info.

    ## Fix safety
    Adding `device=` is safe in `forward` when the device's spelling is in scope and the factory takes the keyword: on the CPU nothing changes,
    elsewhere the old line failed. Outside of `forward` it is unsafe.

    ## Proof
    The forward pass of a module on an accelerator raises the error; with `device=x.device` it gives the values of the CPU run.

    ## References
    aten/src/ATen/TensorIterator.cpp (compute_types), aten/src/ATen/core/op_registration/adaption.h (common_device_check_failure).
    """

    code, name, severity = "TDL504", "factory-without-device-in-forward", ERROR
    quiet_in = (in_tests, in_data_folder, in_exporter, in_unreached_code, under_another_default_device)
    fixable = "sometimes"
    yields_to = ("TDL401",)

    def __init__(self) -> None:
        self._returned: dict[int, list[tuple[Value, Facts]]] = {}

    @on_meet
    def check(self, meeting: Meeting, facts: Facts) -> Iterator[Report]:
        made = meeting.cpu.origin
        if not isinstance(made, ir.Call) or meeting.cpu.attribute or meeting.role == "weight":
            return
        if meeting.cpu.group is not None or not is_factory(made, facts) or facts.tracing:
            return
        if _is_for_another_rule(meeting, facts):
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
        if severity is None or _is_the_same_variable(meeting, facts) or _is_told_apart(made, meeting.other, facts):
            return
        expression = device_expression(meeting, facts)
        safe = severity is ERROR and facts.in_forward

        def fix() -> NodeFix | None:
            if expression is None or made.keyword("device") is not None or not takes_device(made, facts):
                return None
            return give_device(made, expression, Applicability.SAFE if safe else Applicability.UNSAFE)

        advice = f"create it with `device={expression}`" if expression else "create it on the other tensor's device"
        yield self.report(
            made,
            f"{factory_name(made, facts)} makes a CPU tensor that meets {describe(meeting.other)} on line {{0}}: "
            f"on an accelerator that raises {MISMATCH}; {advice}",
            severity=severity,
            related=(Mention(meeting.op, f"here it meets {describe(meeting.other)}"),),
            fix=fix,
            holds=lambda: facts.in_forward or not is_host_argument(meeting.other, facts),
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
                        and not _converts_argument(made, facts)
                        and not _is_told_apart(made, placed[0], facts)
                        and not _is_start_of_choice(made, argument.value, facts)
                        and not _is_for_models_without_parameters(made, facts)
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
                self._returned.setdefault(id(facts.body), []).append((value, facts))
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
            if part != made.dst and facts.place(part) not in _names_of(made, facts):
                continue
            if not is_factory(made, facts) or is_placeholder(made, facts) or is_host_name(facts.place(part)):
                continue
            yield self.report(
                made,
                f"the function returns this CPU tensor beside {describe(placed[0])}: on an accelerator its results are on two devices, and mixing "
                f"them raises {MISMATCH}; create it with `device={expression if spelled else 'the same device'}`",
                severity=WARNING,
                holds=lambda: not is_host_argument(placed[0], facts),
                fix=lambda made=made: _beside_fix(made, expression if spelled else None, facts),  # type: ignore[misc]
            )

    def _mixed(self, element: Value, facts: Facts) -> Iterator[Report]:
        """A list that is filled with CPU tensors first and with results afterwards, wherever there are any."""
        placed = [part for part in element.parts if part.origin is None and _is_of_parameter(part, facts)]
        for part in element.parts:
            made = part.origin
            if (
                placed
                and part.is_fresh_cpu
                and part.rank != 0
                and isinstance(made, ir.Call)
                and is_factory(made, facts)
            ):
                yield self._inconsistent(made, placed[0], facts, "the list that is returned holds")

    @on_file
    def finish(self, facts: Facts) -> Iterator[Report]:
        """Functions that return the device of an argument on one path and a CPU tensor on another."""
        for returned in self._returned.values():
            parts = [(part, where) for value, where in returned for part in value.parts]
            following = [part for part, _ in parts if _follows_an_argument(part)]
            if not following:
                continue
            for part, where in parts:
                made = part.origin
                if (
                    part.is_fresh_cpu
                    and isinstance(made, ir.Call)
                    and owns(where, made)
                    and is_factory(made, where)
                    and not _converts_argument(made, where)
                    and not _is_told_apart(made, following[0], where)
                    and not _is_known_empty(made, where)
                    and not _is_made_of_elements(made, following[0], where)
                    and not _comes_from_host(made, where)
                ):
                    yield self._inconsistent(made, following[0], where, "the function returns", scalar=part.rank == 0)

    def _inconsistent(self, made: ir.Call, other: Value, facts: Facts, subject: str, *, scalar: bool = False) -> Report:
        name = other.device.name
        expression = name if all(part.isidentifier() for part in name.split(".")) else None
        mixing = "`torch.stack`, `torch.cat` or a collective of both" if scalar else "mixing them"
        return self.report(
            made,
            f"on this path {subject} a CPU tensor, on another one {describe(other)}: on an accelerator that makes "
            f"tensors on two devices, and {mixing} raises {MISMATCH}; create it with `device={expression or 'the same device'}`",
            severity=WARNING,
            holds=lambda: not is_host_argument(other, facts),
            fix=lambda: (
                give_device(made, expression, Applicability.UNSAFE)
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
    return give_device(made, expression, Applicability.UNSAFE)


def _is_placed_by_hand(register: ir.Register, facts: Facts) -> bool:
    """True for `x.to(device)`, for a factory with `device=`, and for a name that is bound to one of these alone."""
    written = facts.definition(register)
    if isinstance(written, ir.Load):
        stores = [op for op in operations(facts.body) if isinstance(op, ir.Store) and op.name == written.name]
        written = facts.definition(stores[0].value) if len(stores) == 1 else None
    if not isinstance(written, ir.Call):
        return False
    return facts.callee(written) in (".to", ".cuda") or written.keyword("device") is not None


def _only_shape_is_read(meeting: Meeting, facts: Facts) -> bool:
    """True for `self.net(torch.zeros(1, 3, 32, 32)).shape[1]`: a probe that set-up code makes before anything moves."""
    if not isinstance(meeting.op, ir.Call) or facts.frame is None:
        return False
    if _ends_in_a_size(meeting.op, facts):
        return True
    for op in operations(facts.body):
        if isinstance(op, ir.Iterate) and op.iterable == meeting.op.dst:
            names = _names_of(op, facts)
            return bool(names) and all(_is_measured(facts.frame.index.use(name)) for name in names)
    return False


def _ends_in_a_size(call: ir.Call, facts: Facts) -> bool:
    """True when all that is done with a result, in one expression, leads to its size: `self.second(self.first(x)).view(1, -1).size(1)`."""
    held, attribute = call.dst, None
    for op in operations(facts.body):
        if isinstance(op, ir.Attribute) and op.object == held:
            if op.name in ("shape", "size", "numel", "nelement"):
                return True
            attribute = op
        elif isinstance(op, ir.Call) and (
            (attribute is not None and op.function == attribute.dst) or any(a.value == held for a in op.arguments)
        ):
            held, attribute = op.dst, None
    return False


def _is_moved_at_once(meeting: Meeting, facts: Facts) -> bool:
    """True for `torch.cat([zeros, x]).to(device)`: who moves the result there has parts on the CPU."""
    if not isinstance(meeting.op, ir.Call) or meeting.other.moved is not None or not meeting.other.parameter:
        return False
    return any(
        isinstance(op, ir.Attribute) and op.object == meeting.op.dst and op.name in ("to", "cuda")
        for op in operations(facts.body)
    )


def _is_measured(use: NameUse) -> bool:
    return bool(use.attributes) and use.attributes <= {"shape", "size"} and not (use.torch_argument or use.arithmetic)


def _is_for_another_rule(meeting: Meeting, facts: Facts) -> bool:
    """One finding per place: TDL506, TDL515, TDL522, TDL505 and TDL516 speak of these meetings."""
    return (
        (meeting.role == "index" and meeting.other.evidence >= Evidence.USAGE)
        or meeting.role == "output"
        or factory_of_accelerator_scalar.takes_meeting(meeting, facts)
        or mixed_device_operation.takes_meeting(meeting, facts)
        or default_device_gap.takes_meeting(meeting)
    )


def _converts_argument(made: ir.Call, facts: Facts) -> bool:
    """True for `if isinstance(x, ndarray): x = torch.tensor(x)`: the caller gave an array, and what he gives beside it is on the CPU as well."""
    source = facts.place(made.positional(0))
    if source not in {parameter.name for parameter in facts.body.parameters} or _names_of(made, facts) != {source}:
        return False
    at = next((block for block in facts.body.blocks if made in block.ops), None)
    if facts.callee(made) == "torch.from_numpy" or at is None:
        return facts.callee(made) == "torch.from_numpy"
    return any(_asks_for_kind(register, source, facts) for register in deciding_tests(facts.body, at))


def _asks_for_kind(test: ir.Register, name: str, facts: Facts) -> bool:
    """True for `isinstance(name, ...)`, `torch.is_tensor(name)` and their negations."""
    written = facts.definition(test)
    while isinstance(written, ir.Unary):
        written = facts.definition(written.operand)
    return isinstance(written, ir.Call) and facts.place(written.positional(0)) == name


def _is_told_apart(made: ir.Op, other: Value, facts: Facts) -> bool:
    """True where the tensor is made because the other one is None, no tensor, or not in its list: there is no device to follow then."""
    name = other.parameter or other.device.name.partition(".")[0]
    at = block_of(facts.body, made) if owns(facts, made) else None
    if at is None:
        return False
    sides = tuple(deciding_sides(facts.body, at))
    if name.endswith("[0]"):
        return any(_says_empty(test, side, name.removesuffix("[0]"), facts) for test, side in sides)
    return any(_rules_out(test, side, name, facts) for test, side in sides)


def _rules_out(test: ir.Register, side: bool, name: str, facts: Facts) -> bool:
    """True when a test, decided so, says that `name` holds no tensor."""
    written = facts.definition(test)
    while isinstance(written, ir.Unary) and written.operator == "not":
        written, side = facts.definition(written.operand), not side
    if isinstance(written, ir.Compare):
        return written.operators[0] == ("is" if side else "is not") and facts.place(written.left) == name
    if not isinstance(written, ir.Call) or facts.place(written.positional(0)) != name:
        return False
    callee = facts.callee(written)
    if callee == "torch.is_tensor":
        return not side
    return callee == "builtins.isinstance" and side is not _may_be_tensor(written.positional(1), facts)


def _may_be_tensor(classes: ir.Register | None, facts: Facts) -> bool:
    """True when a tensor is among the classes that `isinstance` asks for."""
    value = facts.value(classes)
    members = value.items if value.kind is Kind.TUPLE and value.items is not None else (value,)
    return any(member.symbol.startswith("torch.") for member in members)


def _is_start_of_choice(made: ir.Op, given: ir.Register, facts: Facts) -> bool:
    """True for what a name holds before several branches give it its value: `y = torch.tensor([0])`, `if ...: y = a`, `elif ...: y = b`."""
    at, names, name = block_of(facts.body, made), _names_of(made, facts), facts.place(given).partition("[")[0]
    if at is None or at.loops or (name and name not in names):
        return False
    stores = [block for block in facts.body.blocks for op in block.ops if isinstance(op, ir.Store) and op.name in names]
    before = set(deciding_sides(facts.body, at))
    return sum(set(deciding_sides(facts.body, block)) > before for block in stores) > 1


def _is_for_models_without_parameters(made: ir.Op, facts: Facts) -> bool:
    """True in `except StopIteration`, where `next(model.parameters())` found nothing."""
    at = block_of(facts.body, made)
    return at is not None and any(
        context.part == "handler" and any(name.endswith("StopIteration") for name in context.catches)
        for context in at.tries
    )


def _is_known_empty(made: ir.Call, facts: Facts) -> bool:
    """True for `torch.tensor(keep)` where `len(keep) > 0` failed: an empty index may stay on the CPU."""
    name = facts.place(made.positional(0))
    at = block_of(facts.body, made)
    return (
        bool(name)
        and at is not None
        and any(_says_empty(test, side, name, facts) for test, side in deciding_sides(facts.body, at))
    )


def _says_empty(test: ir.Register, side: bool, name: str, facts: Facts) -> bool:
    """True when a test, decided so, says that the list `name` is empty: `len(x) == 0`, `not x`."""
    written = facts.definition(test)
    while isinstance(written, ir.Unary) and written.operator == "not":
        written, side = facts.definition(written.operand), not side
    if isinstance(written, ir.Compare):
        side = not side if written.operators[0] == "==" else side
        written = facts.definition(written.left)
    if isinstance(written, ir.Call) and facts.callee(written) == "builtins.len":
        written = facts.definition(written.positional(0))
    return not side and isinstance(written, ir.Load) and written.name == name


def _is_made_of_elements(made: ir.Call, other: Value, facts: Facts) -> bool:
    """True for `torch.tensor([x[0], x[1]])`: it reads the elements of x one by one, as is done with tensors of the host."""
    name = other.device.name.removesuffix(".device")
    pending = [made.positional(0)] if facts.callee(made) == "torch.tensor" else []
    while pending:
        written = facts.definition(pending.pop())
        if isinstance(written, ir.Sequence):
            pending += [element.value for element in written.elements]
        elif isinstance(written, ir.Subscript) and facts.place(written.object) == name:
            return True
    return False


def _comes_from_host(made: ir.Call, facts: Facts) -> bool:
    """True for an array that the function itself brought to the CPU, or that NumPy made of an argument, which was on the CPU then."""
    if facts.callee(made) not in functions.HOST_FACTORIES:
        return False
    parameters = {parameter.name for parameter in facts.body.parameters}
    return any(
        (isinstance(op, ir.Attribute) and op.name == "cpu")
        or (
            isinstance(op, ir.Call)
            and (facts.qualified(op.function) or "").startswith("numpy.")
            and facts.place(op.positional(0)) in parameters
        )
        for op in operations(facts.body)
    )


def _is_made_on_demand(attribute: str, facts: Facts) -> bool:
    """True for a model that this very method makes when it is not there yet: `if self.net is None: self.net = Net()`."""
    summary = facts.class_summary
    return (
        bool(attribute)
        and summary is not None
        and any(store.body is facts.body for store in summary.stores_of(attribute))
    )


def _is_the_same_variable(meeting: Meeting, facts: Facts) -> bool:
    """True where the other tensor's device is that of the variable that holds the CPU tensor, or of an argument beside a converted one."""
    made, other = meeting.cpu.origin, meeting.other
    if facts.in_forward or not isinstance(made, ir.Call) or not owns(facts, made) or other.device.place != "sym":
        return False
    names = _names_of(made, facts)
    if other.device.name.removesuffix(".device") in names:
        return True
    return _converts_argument(made, facts) and other.device.name.endswith(".device")


def _names_of(made: ir.Op, facts: Facts) -> set[str]:
    """The names that a result is bound to, also after methods and sums with constants: `x = torch.from_numpy(x).float() / 255`."""
    if not isinstance(made, ir.ValueOp):
        return set()
    chain, names = {made.dst}, set()
    packed: dict[ir.Register, int] = {}
    for op in operations(facts.body):
        if isinstance(op, ir.Store) and op.value in chain:
            names.add(op.name)
        elif isinstance(op, ir.Sequence):
            for at, element in enumerate(op.elements):
                if element.value in chain:
                    packed[op.dst] = at
        elif (
            (isinstance(op, ir.Attribute) and op.object in chain)
            or (isinstance(op, ir.Call) and op.function in chain)
            or (isinstance(op, ir.Binary) and (op.left in chain or op.right in chain) and _has_constant(op, facts))
            or (isinstance(op, ir.Unpack) and packed.get(op.source) == op.index)
        ):
            chain.add(op.dst)
    return names


def _has_constant(op: ir.Binary, facts: Facts) -> bool:
    return any(isinstance(facts.definition(register), ir.Constant) for register in (op.left, op.right))


def _is_submodule(module: Value, facts: Facts) -> bool:
    """True for a module by its class, and for what is moved, or kept by a Module as an attribute, and then called."""
    if module.evidence >= Evidence.STRONG or (module.evidence >= Evidence.USAGE and module.moved is not None):
        return True
    summary = facts.class_summary
    own = summary is not None and summary.is_module and bool(module.attribute)
    return own and module.evidence >= Evidence.USAGE


def _is_placed_here(other: Value) -> bool:
    """True for a tensor that was made or moved with `device=device`: set-up code that chooses a place itself."""
    return (
        other.attribute == ""
        and other.evidence >= Evidence.STRONG
        and other.device.name.isidentifier()
        and other.device.name != "self"
    )


def _is_of_parameter(other: Value, facts: Facts) -> bool:
    """True for what was computed from an argument of this function and still lives where the argument does."""
    name, _, last = other.device.name.rpartition(".")
    return (
        last == "device" and other.moved is None and any(parameter.name == name for parameter in facts.body.parameters)
    )


def _stores_of(meeting: Meeting, facts: Facts) -> int:
    """How often the name that holds the CPU tensor is bound in the body."""
    made = meeting.cpu.origin
    names = {
        op.name
        for block in facts.body.blocks
        for op in block.ops
        if isinstance(op, ir.Store) and made is not None and op.value == getattr(made, "dst", -1)
    }
    return sum(1 for block in facts.body.blocks for op in block.ops if isinstance(op, ir.Store) and op.name in names)


def _follows_an_argument(part: Value) -> bool:
    """True for a tensor that lives where an annotated (or clearly used) argument of the function does."""
    return (
        part.device.place == "sym"
        and part.device.name.endswith(".device")
        and part.evidence >= Evidence.STRONG
        and part.origin is None
        and part.device.name != f"self.{part.attribute}.device"
    )


def is_factory(made: ir.Call, facts: Facts) -> bool:
    """True for a call of torch's that makes a tensor on the CPU (of this body or of one that it calls)."""
    if not owns(facts, made):
        return True  # made in a function of this file that was called
    name = facts.callee(made)
    return name in functions.FACTORIES or name in functions.HOST_FACTORIES


def takes_device(made: ir.Call, facts: Facts) -> bool:
    """True when the factory has a `device` keyword, in every release."""
    name = facts.callee(made)
    return owns(facts, made) and name in functions.FACTORIES and not name.endswith("generate_square_subsequent_mask")


def _is_sure(cpu: Value, other: Value) -> bool:
    """True where both tensors are what they are on every path."""
    return not cpu.others and not other.others and other.evidence >= Evidence.STRONG and cpu.evidence >= Evidence.STRONG


def judged(meeting: Meeting, facts: Facts) -> Severity | None:
    """How sure the premises are: the weakest of them decides. None: say nothing."""
    cpu, other = meeting.cpu, meeting.other
    if meeting.role == "index" and other.evidence < Evidence.USAGE:
        return None
    if cpu.rank is None and not meeting.strict:
        return None
    if other.evidence < Evidence.USAGE and not (
        other.evidence is Evidence.NAME and not facts.mentions("device", "cuda", "to", "cpu")
    ):
        return None
    assert cpu.origin is not None
    local = owns(facts, cpu.origin)
    if not facts.in_forward and (is_data_code(facts) or converts_on_host(facts) or is_test_file(facts)):
        return None
    if facts.in_setup and not facts.in_forward and not _is_placed_here(other):
        return None
    if cpu.others and facts.in_loop and _stores_of(meeting, facts) > 2:
        return None  # a placeholder that the loop replaces before it is used
    if is_placeholder(cpu.origin, facts) or (not facts.in_forward and _only_shape_is_read(meeting, facts)):
        return None
    module = meeting.module
    if meeting.role == "input" and not facts.in_forward and module is not None and not _is_submodule(module, facts):
        return None  # what an unknown module does with an argument is unknown
    if not facts.in_forward and (exports(facts) or _is_made_on_demand(other.attribute, facts)):
        return None
    if facts.in_forward:
        if not local and meeting.role == "input":
            # One of several things that another function may have given, or what a helper made for a layer of this module.
            return (
                WARNING
                if module is not None
                and module.symbol in LEAF_MODULES_WITH_WEIGHTS
                and other.evidence >= Evidence.STRONG
                else None
            )
        if not local and not meeting.strict:
            return WARNING if other.evidence >= Evidence.STRONG else None
        return ERROR
    if not local:
        return (
            WARNING
            if meeting.strict and meeting.role == "operand" and _is_of_parameter(other, facts) and _is_sure(cpu, other)
            else None
        )
    if other.evidence >= Evidence.STRONG:
        return WARNING
    if meeting.strict or meeting.role in ("index", "output") or other.parameter:
        return WARNING
    return WARNING if _is_of_parameter(other, facts) else None
