"""Inputs that follow the machine while the model follows the caller."""

from __future__ import annotations

from torchdevlint.facts.calls import argument_given, calls_of
from torchdevlint.facts.facts import Facts
from torchdevlint.facts.scopes import parameter_of
from torchdevlint.facts.values import Kind
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.structure import is_literal_device, once_per_place


def model_left_behind(call: ir.Call, facts: Facts) -> str:
    """The parameter whose module gets the result of a move that an availability test decides; "" when there is none."""
    body = facts.body
    if body.kind != "function" or facts.callee(call) not in (".cuda", ".to") or not machine_decides(call, facts):
        return ""
    if facts.value(facts.receiver(call)).kind in (Kind.MODULE, Kind.OTHER, Kind.CLASS, Kind.INSTANCE):
        return ""
    readers = Lookup.of(body).readers(call.dst)
    takers = {name for op in readers if isinstance(op, ir.Call) for name in _takers(op, call.dst, facts)}
    for op in readers:
        if isinstance(op, ir.Store):
            takers |= _takers_of(op.name, facts)
    for parameter in body.parameters:
        name = parameter.name
        if name in takers and _is_module(name, facts) and not _is_placed(name, facts):
            return name
    return ""


def is_moved_by_callers(call: ir.Call, parameter: str, facts: Facts) -> bool:
    """True where a function that calls the one around a move, in this file or another, moves something itself by `.cuda()` or `.to()`."""
    body = facts.analysis.body_of(call)
    return body is not None and any(
        Lookup.of(site.body).has_attribute("cuda", "to")
        for site in calls_of(body, facts.analysis)
        if argument_given(site, body, parameter) is not None
    )


def machine_decides(call: ir.Call, facts: Facts) -> bool:
    """True for a move to CUDA under an availability test, and for one to a device that this function chose by such a test."""
    register = call.argument("device", 0) if facts.callee(call) in (".cuda", ".to") else call.keyword("device")
    guards = facts.frame.guards
    if "cuda" in guards and "flag" not in guards:
        spelled = facts.callee(call) == ".cuda" if register is None else is_literal_device(register, facts)
        return spelled and facts.frame.asked_machine
    written = facts.definition(register)
    if not isinstance(written, ir.Load) or parameter_of(facts.body, written.name) is not None:
        return False
    return written.name in facts.body.local_names and facts.device_of(register).chosen


def _is_module(name: str, facts: Facts) -> bool:
    value = facts.frame.held(name)
    return value is not None and value.kind is Kind.MODULE and value.ref == name


def _is_placed(name: str, facts: Facts) -> bool:
    """True when the body moves the module, or reads where it is."""
    return bool(facts.analysis.index_of(facts.body).use(name).attributes & {"to", "cuda", "cpu", "device", "to_empty"})


@once_per_place
def _takers_of(name: str, facts: Facts) -> set[str]:
    """The names that are called with what a name holds, and those that are given to a function beside it."""
    lookup = Lookup.of(facts.body)
    given = ((op, load.dst) for load in lookup.loads(name) for op in lookup.readers(load.dst))
    return {taker for op, register in given if isinstance(op, ir.Call) for taker in _takers(op, register, facts)}


def _takers(op: ir.Call, value: ir.Register, facts: Facts) -> set[str]:
    """The names of the function and of the arguments of a call that is given a value: `model(x)` and `f(model, x)`."""
    if not any(argument.value == value for argument in op.arguments):
        return set()
    read = [facts.definition(register) for register in (op.function, *(argument.value for argument in op.arguments))]
    return {one.name for one in read if isinstance(one, ir.Load)}
