"""Code for one of several versions of torch: which test chooses it, and what the other versions get."""

from __future__ import annotations

import re

from torchdevlint.flow.facts import Facts
from torchdevlint.program import ir
from torchdevlint.rules.order import deciding_tests
from torchdevlint.rules.structure import operations, tested_in

# `torch.__version__`, `TORCH_VERSION`, `is_torch_version`, `TORCH_2_4`, `_TORCH_GREATER_EQUAL_2_4`
_VERSION = re.compile(r"version|torch\w*_\d|torch\d|is_torch_", re.IGNORECASE)
_NUMBER = re.compile(r"\d+\.\d+\.\d+")
_ABSENCE = frozenset({"AttributeError", "TypeError", "ImportError", "ModuleNotFoundError", "Exception"})
_DEPTH = 6


def is_for_some_versions(block: ir.Block, body: ir.Body, facts: Facts) -> bool:
    """True behind a test of torch's version, or of what it has, and in the handler of a `try` that failed for want of something newer."""
    if any(tried.part == "handler" and _is_absence(tried) for tried in block.tries):
        return True
    return any(_asks_version(test, body, facts, _DEPTH) for test in deciding_tests(body, block))


def _is_absence(tried: ir.TryContext) -> bool:
    return not tried.catches or not _ABSENCE.isdisjoint(name.rpartition(".")[2] for name in tried.catches)


def names_one_of(names: frozenset[str], facts: Facts) -> bool:
    """True for a file that imports or reads one of these dotted names."""
    for body in facts.program.bodies:
        index = facts.analysis.index_of(body)
        for op in operations(body):
            if isinstance(op, ir.Import) and op.qualified in names:
                return True
            if isinstance(op, ir.Attribute) and facts.analysis.resolve_text(index.dotted(op.dst)) in names:
                return True
    return False


def _asks_version(register: ir.Register, body: ir.Body, facts: Facts, depth: int) -> bool:
    index = facts.analysis.index_of(body)
    written = index.definitions[register]
    if depth == 0:
        return False
    if isinstance(written, ir.Attribute):
        return bool(_VERSION.search(written.name))
    if isinstance(written, ir.Load):
        return bool(_VERSION.search(written.name)) or _is_stored_version(written.name, body, facts, depth)
    if isinstance(written, ir.Call):
        function, first = index.dotted(written.function), written.positional(0)
        if function == "hasattr" and first is not None:
            return facts.analysis.resolve_text(index.dotted(first)).partition(".")[0] == "torch"
        given = [index.definitions[argument.value] for argument in written.arguments]
        if any(isinstance(op, ir.Constant) and _NUMBER.fullmatch(str(op.value)) for op in given):
            return True  # `requires("2.3.0")`
    return any(_asks_version(part, body, facts, depth - 1) for part in tested_in(written))


def _is_stored_version(name: str, body: ir.Body, facts: Facts, depth: int) -> bool:
    """True for a name that a test of the version was stored under, in the body or in the module."""
    return any(
        _asks_version(value, place, facts, depth - 1)
        for place in dict.fromkeys((body, facts.program.module))
        for value in facts.analysis.index_of(place).bound_to(name)
    )
