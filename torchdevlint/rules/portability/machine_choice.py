"""Inputs that follow the machine while the model follows the caller."""

from __future__ import annotations

from torchdevlint.flow.facts import Facts
from torchdevlint.flow.knowledge import functions
from torchdevlint.flow.values import Kind
from torchdevlint.program import ir
from torchdevlint.rules.structure import operations


def model_left_behind(call: ir.Call, facts: Facts) -> str:
    """The parameter whose module gets the result of a move that an availability test decides; "" when there is none."""
    body = facts.body
    if body.kind != "function" or facts.callee(call) not in (".cuda", ".to") or not _machine_decides(call, facts):
        return ""
    if facts.value(facts.receiver(call)).kind in (Kind.MODULE, Kind.OTHER, Kind.CLASS, Kind.INSTANCE):
        return ""
    names = {op.name for op in operations(body) if isinstance(op, ir.Store) and op.value == call.dst}
    for parameter in body.parameters:
        name = parameter.name
        if _is_module(name, facts) and not _is_placed(name, facts):
            gets = any(_gets(op, name, call.dst, names, facts) for op in operations(body))
            if gets:
                return name
    return ""


def _machine_decides(call: ir.Call, facts: Facts) -> bool:
    """True for a move to CUDA under an availability test, and for one to a device that this function chose by such a test."""
    guards = facts.frame.env.get("?", frozenset()) if facts.frame is not None else frozenset()
    if "cuda" in guards and "flag" not in guards:
        register = call.argument("device", 0)
        return register is None or isinstance(facts.definition(register), ir.Constant)
    written = facts.definition(call.argument("device", 0))
    if not isinstance(written, ir.Load) or any(written.name == one.name for one in facts.body.parameters):
        return False
    stored = [op.value for op in operations(facts.body) if isinstance(op, ir.Store) and op.name == written.name]
    return bool(stored) and all(_asks_machine(register, facts, 0) for register in stored)


def _asks_machine(register: ir.Register | None, facts: Facts, depth: int) -> bool:
    """True for `"cuda" if torch.cuda.is_available() else "cpu"`, also within `torch.device(...)`."""
    op = facts.definition(register)
    if depth > 3:
        return False
    if isinstance(op, ir.Call) and len(op.arguments) == 1 and facts.callee(op) == "torch.device":
        return _asks_machine(op.arguments[0].value, facts, depth + 1)
    if not isinstance(op, ir.Choice) or op.shape != "if":
        return False
    test = facts.definition(op.test)
    if isinstance(test, ir.Unary):
        test = facts.definition(test.operand)
    return isinstance(test, ir.Call) and functions.AVAILABILITY.get(facts.callee(test)) in ("cuda", "accelerator")


def _is_module(name: str, facts: Facts) -> bool:
    value = facts.frame.env.get(name) if facts.frame is not None else None
    return value is not None and value.kind is Kind.MODULE and value.ref == name


def _is_placed(name: str, facts: Facts) -> bool:
    """True when the body moves the module, or reads where it is."""
    return bool(facts.analysis.index_of(facts.body).use(name).attributes & {"to", "cuda", "cpu", "device", "to_empty"})


def _gets(op: ir.Op, module: str, moved: ir.Register, names: set[str], facts: Facts) -> bool:
    """True for `model(x)` and `f(model, x)` with the moved value."""
    if not isinstance(op, ir.Call):
        return False
    function = facts.definition(op.function)
    given = [facts.definition(argument.value) for argument in op.arguments]
    loaded = {one.name for one in given if isinstance(one, ir.Load)}
    has_value = any(argument.value == moved for argument in op.arguments) or bool(names & loaded)
    is_called = isinstance(function, ir.Load) and function.name == module
    return has_value and (is_called or module in loaded)
