"""TDL802."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchdevlint.facts.facts import Facts
from torchdevlint.fixes.grounds import Ground
from torchdevlint.fixes.lazy import builders
from torchdevlint.program import ir
from torchdevlint.program.lookup import Lookup
from torchdevlint.rules.rule import ERROR, NodeFix, Report, Rule, on_attribute
from torchdevlint.stubs.knowledge import functions

_TESTS = frozenset(name for name in functions.AVAILABILITY if name.rpartition(".")[2].startswith("is_"))
# A name that says by itself that it holds True or False.
_FLAG = re.compile(
    r"(?:use|using|with|enable|on)_?(?:\w{0,60}_)?(?:cuda|gpu|mps|xpu)|(?:cuda|gpu|mps|pin|pin_memory)\Z", re.IGNORECASE
)
# Keywords of torch that are True or False.
_FLAG_KEYWORDS = frozenset({"pin_memory", "enabled", "non_blocking"})


class AvailabilityFunctionNotCalled(Rule):
    """Finds availability functions that are tested without being called.

    ## What it does
    Reports `torch.cuda.is_available`, `torch.backends.mps.is_available` and their like, without parentheses, as a condition, an operand of `and`,
    `or` and `not`, compared with True or False, or bound to a flag such as `use_cuda`.

    ## Why is this bad?
    A function object is always true: the program takes CUDA for granted and fails on every machine without it.

    ## Example
        device = "cuda" if torch.cuda.is_available else "cpu"

    ## Use instead
        device = "cuda" if torch.cuda.is_available() else "cpu"

    ## When it stays silent
    The function is passed on, compared with another function, patched, or bound to a name that is called later.

    ## Fix safety
    Appending `()` is safe: where there is an accelerator the result is the same, elsewhere the old program could not work. Behind `not` it is unsafe:
    it wakes code that never ran.

    ## Proof
    On a machine without a GPU the condition is true and the move fails; with the call the program runs on the CPU.

    ## References
    torch/cuda/__init__.py (`is_available`), torch/backends/mps/__init__.py.
    """

    code, name, severity = "TDL802", "availability-function-not-called", ERROR
    fixable = "sometimes"

    @on_attribute("is_available", "is_built", "is_bf16_supported")
    def check(self, read: ir.Attribute, facts: Facts) -> Iterator[Report]:
        function = facts.qualified(read.dst)
        if function not in _TESTS or not _is_tested(read.dst, facts):
            return
        yield self.report(
            read,
            f"without `()` this function is always true; call it: `{function}()`",
            detail="A function object is true on every machine: this does not ask for the device.",
            fix=lambda: _call(read, Ground.WAKES_CODE if _is_negated(read.dst, facts) else Ground.OLD_LINE_RAISED),
        )


def _is_tested(register: ir.Register, facts: Facts) -> bool:
    """True when the value of a register decides something, by itself or through the name that it is bound to."""
    lookup = Lookup.of(facts.body)
    if register in lookup.tested:
        return True
    for op in lookup.readers(register):
        if isinstance(op, ir.Unary) and op.operator == "not":
            return True
        if isinstance(op, ir.Choice) and _decides(op, register, facts):
            return True
        if isinstance(op, ir.Compare) and _is_compared_with_bool(op, register, facts):
            return True
        if isinstance(op, ir.Call) and any(a.value == register and a.keyword in _FLAG_KEYWORDS for a in op.arguments):
            return True
        if isinstance(op, ir.Store):
            return _is_flag(op.name, facts, _FLAG.match(op.name) is not None)
        if isinstance(op, ir.StoreAttribute) and op.value == register and op.name != "is_available":
            return _FLAG.match(op.name) is not None and not _is_called(op.name, facts)
    return False


def _decides(op: ir.Choice, register: ir.Register, facts: Facts) -> bool:
    if op.test == register:
        return True
    if op.shape == "if" or register not in op.values:
        return False
    # `a and b` asks for `a`; what it gives may be `b` itself.
    return register != op.values[-1] or op.shape == "and" or _is_tested(op.dst, facts)


def _is_compared_with_bool(op: ir.Compare, register: ir.Register, facts: Facts) -> bool:
    sides = (op.left, *op.comparators)
    written = [facts.definition(side) for side in sides]
    return register in sides and any(isinstance(one, ir.Constant) and isinstance(one.value, bool) for one in written)


def _is_flag(name: str, facts: Facts, says_so: bool) -> bool:
    """True for a name that is never called or handed on, and that either says that it is a flag or is tested."""
    tested = False
    for body in facts.program.bodies:
        if body is not facts.body and (facts.body.kind != "module" or name in body.local_names):
            continue
        lookup = Lookup.of(body)
        for read in (load.dst for load in lookup.loads(name)):
            tested = tested or read in lookup.tested
            for op in lookup.readers(read):
                if isinstance(op, ir.Call) and (op.function == read or _is_handed_on(op, read)):
                    return False
                if isinstance(op, (ir.StoreAttribute, ir.Store)) and op.value == read:
                    return False
                tested = tested or isinstance(op, ir.Unary)
    return tested or says_so


def _is_handed_on(op: ir.Call, read: ir.Register) -> bool:
    return any(argument.value == read and argument.keyword not in _FLAG_KEYWORDS for argument in op.arguments)


def _is_called(name: str, facts: Facts) -> bool:
    """True when a method or attribute of this name is called anywhere in the file."""
    return any(
        isinstance(op, ir.Call) and op.function == read.dst
        for lookup in map(Lookup.of, facts.program.bodies)
        for read in lookup.attributes(name)
        for op in lookup.readers(read.dst)
    )


def _is_negated(register: ir.Register, facts: Facts) -> bool:
    """True for `if not torch.cuda.is_available:`, whose body has never run."""
    return any(isinstance(op, ir.Unary) and op.operator == "not" for op in Lookup.of(facts.body).readers(register))


def _call(read: ir.Attribute, ground: Ground) -> NodeFix | None:
    return NodeFix(ground, "Call it", builders.append_call_parentheses(read))
