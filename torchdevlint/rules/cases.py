"""Cases that a body tells apart: what is made on one side of a test does not meet what is there on the other."""

from __future__ import annotations

from torchdevlint.flow.facts import Facts, Meeting
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.values import Kind, Value
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.order import block_of, deciding_sides, deciding_tests
from torchdevlint.rules.structure import definition_of, operations
from torchdevlint.rules.wording import owns


def converts_argument(made: ir.Call, facts: Facts) -> bool:
    """True for `if isinstance(x, ndarray): x = torch.tensor(x)`: the caller gave an array, and what he gives beside it is on the CPU as well."""
    source = facts.place(made.positional(0))
    if source not in {parameter.name for parameter in facts.body.parameters} or names_of(made, facts) != {source}:
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


def is_told_apart(made: ir.Op, other: Value, facts: Facts) -> bool:
    """True where the tensor is made because the other one is None, no tensor, or not in its list: there is no device to follow then."""
    name = other.parameter or other.device.name.partition(".")[0]
    at = block_of(facts.body, made) if owns(facts, made) else None
    if at is None:
        return False
    if name.endswith("[0]"):
        sides = deciding_sides(facts.body, at)
        return any(_says_empty(test, side, name.removesuffix("[0]"), facts) for test, side in sides)
    return any(_rules_out(*decided, name, facts) for decided in deciding_sides(facts.body, at, ir.Compare, ir.Call))


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


def flags_before(op: ir.Return, facts: Facts) -> set[tuple[str, bool]]:
    """The caller's flags that lead to a return of a tensor, each with its side: those of tests, and that of `x if flag else y`."""
    at = block_of(facts.body, op)
    sides = list(deciding_sides(facts.body, at)) if at is not None else []
    written = facts.definition(op.value)
    if isinstance(written, ir.Choice) and written.test is not None:
        kinds = [facts.value(value).kind is Kind.TENSOR for value in written.values]
        sides += [(written.test, kinds[0])] if sum(kinds) == 1 else []
    stored = facts.analysis.index_of(facts.body).stored
    flags = {p.name for p in facts.body.parameters if p.name not in stored and _is_flag(p, facts)}
    found = set()
    for test, side in sides:
        written = facts.definition(test)
        while isinstance(written, ir.Unary) and written.operator == "not":
            written, side = facts.definition(written.operand), not side
        if isinstance(written, ir.Load) and written.name in flags:
            found.add((written.name, side))
    return found


def _is_flag(parameter: ir.Parameter, facts: Facts) -> bool:
    default = definition_of(facts.analysis, facts.body.parent, parameter.default) if facts.body.parent else None
    return isinstance(default, ir.Constant) and isinstance(default.value, bool)


def is_start_of_choice(made: ir.Op, given: ir.Register, facts: Facts) -> bool:
    """True for what a name holds before several branches give it its value: `y = torch.tensor([0])`, `if ...: y = a`, `elif ...: y = b`."""
    at, names, name = block_of(facts.body, made), names_of(made, facts), facts.place(given).partition("[")[0]
    if at is None or at.loops or (name and name not in names):
        return False
    stores = [block for block in facts.body.blocks for op in block.ops if isinstance(op, ir.Store) and op.name in names]
    before = set(deciding_sides(facts.body, at))
    return sum(set(deciding_sides(facts.body, block)) > before for block in stores) > 1


def is_for_models_without_parameters(made: ir.Op, facts: Facts) -> bool:
    """True in `except StopIteration`, where `next(model.parameters())` found nothing."""
    at = block_of(facts.body, made)
    return at is not None and any(
        context.part == "handler" and any(name.endswith("StopIteration") for name in context.catches)
        for context in at.tries
    )


def is_known_empty(made: ir.Call, facts: Facts) -> bool:
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


def is_made_of_elements(made: ir.Call, other: Value, facts: Facts) -> bool:
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


def comes_from_host(made: ir.Call, facts: Facts) -> bool:
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


def is_the_same_variable(meeting: Meeting, facts: Facts) -> bool:
    """True where the other tensor's device is that of the variable that holds the CPU tensor, or of an argument beside a converted one."""
    made, other = meeting.cpu.origin, meeting.other
    if facts.in_forward or not isinstance(made, ir.Call) or not owns(facts, made) or other.device.place != "sym":
        return False
    names = names_of(made, facts)
    if other.device.name.removesuffix(".device") in names:
        return True
    return converts_argument(made, facts) and other.device.name.endswith(".device")


def cpu_tensor(made: ir.Op, facts: Facts) -> str:
    """How a message calls a tensor that is made on the CPU: by its name, where it has one."""
    if not owns(facts, made):
        return "the CPU tensor made here"
    names = names_of(made, facts)
    return f"the CPU tensor `{names.pop()}`" if len(names) == 1 else "this CPU tensor"


def names_of(made: ir.Op, facts: Facts) -> set[str]:
    """The names that a result is bound to, also after methods and sums with constants: `x = torch.from_numpy(x).float() / 255`."""
    if not isinstance(made, ir.ValueOp):
        return set()
    chain, names = {made.dst}, set[str]()
    packed: dict[ir.Register, int] = {}
    trail = Lookup.of(facts.body).trail(made.dst)
    for op in trail:
        if isinstance(op, ir.Store) and op.value in chain:
            names.add(op.name)
        elif isinstance(op, ir.Sequence):
            for at, element in enumerate(op.elements):
                if element.value in chain:
                    packed[op.dst] = at
                    trail.add(op.dst)
        elif (
            (isinstance(op, ir.Attribute) and op.object in chain)
            or (isinstance(op, ir.Call) and op.function in chain)
            or (isinstance(op, ir.Binary) and (op.left in chain or op.right in chain) and _has_constant(op, facts))
            or (isinstance(op, ir.Unpack) and packed.get(op.source) == op.index)
        ):
            chain.add(op.dst)
            trail.add(op.dst)
    return names


def _has_constant(op: ir.Binary, facts: Facts) -> bool:
    return any(isinstance(facts.definition(register), ir.Constant) for register in (op.left, op.right))
