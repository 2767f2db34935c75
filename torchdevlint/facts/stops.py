"""Bodies and programs that stop where a test for CUDA fails: `assert torch.cuda.is_available()`, `if not ...: raise`."""

from __future__ import annotations

from torchdevlint.facts.analysis import FileFacts
from torchdevlint.facts.calls import callees
from torchdevlint.facts.files import programs_of
from torchdevlint.facts.once import once_per_body, once_per_file
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.stubs.knowledge import functions


@once_per_file
def stops_without_cuda(analysis: FileFacts) -> bool:
    """True when every program of the project that leads here stops where there is no CUDA: `assert torch.cuda.is_available()` in its main."""
    programs = programs_of(analysis)
    return bool(programs) and all(there is not None and stops_at_start(there) for there in programs)


@once_per_file
def stops_at_start(analysis: FileFacts) -> bool:
    """True for a program whose main stops without CUDA."""
    return any(demands_cuda(body, analysis) for body in analysis.program.bodies if starts_program(body, analysis))


@once_per_body
def calls_what_stops(body: ir.Body, analysis: FileFacts) -> bool:
    """True for a body that calls a function of another file which stops where there is no CUDA: `initialize()` with an assertion in it."""
    return analysis.member is not None and any(
        there is not analysis and demands_cuda(callee, there)
        for call in Lookup.of(body).kind(ir.Call)
        for callee, there in callees(call, body, analysis)
    )


@once_per_body
def starts_program(body: ir.Body, analysis: FileFacts) -> bool:
    """True for the module, for `main`, and for a function that one of them calls."""
    if body.kind == "module" or body.name == "main":
        return True
    callers = [other for other in analysis.program.bodies if other.kind == "module" or other.name == "main"]
    return body.owner is None and any(
        body.name == name for caller in callers for name, _ in analysis.index_of(caller).local_calls
    )


@once_per_body
def demands_cuda(body: ir.Body, analysis: FileFacts) -> bool:
    """True for a body that raises or exits where a test for CUDA fails."""
    asks = (name for name, device in functions.AVAILABILITY.items() if device == "cuda")
    return any(stops_where_it_fails(call, body, analysis) for call in analysis.calls_to(asks, body))


def stops_where_it_fails(call: ir.Call, body: ir.Body, analysis: FileFacts) -> bool:
    """True when the branch of a body for a failed test raises or exits."""
    return _stops_where_it_fails(body, analysis).get(call.dst, False)


@once_per_body
def _stops_where_it_fails(body: ir.Body, analysis: FileFacts) -> dict[ir.Register, bool]:
    """By the register of a test: whether the branch for a failed one, of the first `if` that asks it, raises or exits."""
    definitions = analysis.index_of(body).definitions
    found: dict[ir.Register, bool] = {}
    for block in body.blocks:
        if block.test is None or len(block.successors) != 2:
            continue
        negated, register = False, block.test
        written = definitions[register]
        while isinstance(written, ir.Unary) and written.operator == "not":
            negated, register = not negated, written.operand
            written = definitions[register]
        tests: list[tuple[ir.Register, bool]] = [(register, negated)]
        if isinstance(written, ir.Compare) and written.operators[0] in ("<", "<=", "=="):
            tests.append((written.left, not negated))  # `if torch.cuda.device_count() < 2: quit()`
        if isinstance(written, ir.Choice) and written.shape == "or":
            # `if not (torch.cuda.is_available() or torch.xpu.is_available()): raise`
            tests += [(value, negated) for value in written.values]
        for test, is_negated in tests:
            if test not in found:
                failing = body.blocks[block.successors[0 if is_negated else 1]]
                found[test] = any(_stops(op, body) for op in failing.ops)
    return found


def _stops(op: ir.Op, body: ir.Body) -> bool:
    ends = ("exit", "_exit", "quit", "skip", "skipTest", "abort")
    return isinstance(op, ir.Raise) or (isinstance(op, ir.Call) and Lookup.of(body).called(op) in ends)
