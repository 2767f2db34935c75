"""Statements put under a condition, and moved up."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from torchdevlint.findings import Applicability, Fix
from torchdevlint.fixes import statements
from torchdevlint.fixes.apply import Splicer
from torchdevlint.fixes.builders import Edits
from torchdevlint.fixes.text import apply_fixes
from torchdevlint.program import ir
from torchdevlint.program.from_libcst import lower
from torchdevlint.source.lines import Lines


def parsed(text: str) -> tuple[cst.Module, ir.Program]:
    module = cst.parse_module(text)
    return module, lower(module)


def call_of(program: ir.Program, name: str) -> ir.Call:
    """The call `name()`."""
    for body in program.bodies:
        loads = {op.dst: op.name for block in body.blocks for op in block.ops if isinstance(op, ir.Load)}
        for block in body.blocks:
            for op in block.ops:
                if isinstance(op, ir.Call) and loads.get(op.function) == name:
                    return op
    raise AssertionError(name)


def applied(module: cst.Module, edits: Edits | None) -> str | None:
    if edits is None:
        return None
    spliced = Splicer(module, module.code, Lines(module.code), edits).edits(edits)
    assert spliced is not None
    return apply_fixes(module.code, [Fix(Applicability.SAFE, "", spliced)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()\n", "if c:\n    f()\n"),
        ("f()", "if c:\n    f()\n"),
        ("# why\nf()  # what\n", "# why\nif c:\n    f()  # what\n"),
        ("def g():\n\n    f()\n    return 1\n", "def g():\n\n    if c:\n        f()\n    return 1\n"),
        ("if x:\n\tf()\n", "if x:\n\tif c:\n\t\tf()\n"),
        ("f(\n    1,\n)\n", "if c:\n    f(\n        1,\n    )\n"),
        ("a = f()\n", None),
        ("f(); g()\n", None),
        ("if x: f()\n", None),
        ("f() + 1\n", None),
        ("g(f())\n", None),
    ],
)
def test_guard_statement(before: str, after: str | None) -> None:
    module, program = parsed(before)
    result = applied(module, statements.guard_statement(program, call_of(program, "f"), "c"))
    assert result == after
    if result is not None:
        ast.parse(result)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("g()\nf()\n", "f()\ng()\n"),
        ("g()\nh()\nf()  # what\n", "f()  # what\ng()\nh()\n"),
        ("g()\n\n# why\nf()\nh()\n", "# why\nf()\ng()\n\nh()\n"),
        ("f()\ng()\n", None),
        ("g()\nif x:\n    f()\n", None),
        ("g()\nf(); h()\n", None),
        ("g()\n# loose\n\nf()\n", None),
    ],
)
def test_move_statement_above(before: str, after: str | None) -> None:
    module, program = parsed(before)
    edits = statements.move_statement_above(program, call_of(program, "f"), call_of(program, "g"))
    result = applied(module, edits)
    assert result == after
    if result is not None:
        ast.parse(result)
