"""Flow and rules see operations and facts alone: every rule says the same of a Program whose syntax nodes are gone.

The files in which rules speak are asked here. `test_with_and_without_sieve` asks the same of all fixtures: what `ast` gives has no nodes.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

import libcst as cst
import pytest

from torchdevlint.program import ir
from torchdevlint.program.from_libcst import lower
from torchdevlint.rules.engine import analyse
from torchdevlint.rules.registry import all_rules

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(
    {*FIXTURES.rglob("faulty*.py")} - {FIXTURES / "files/unparsable-file/faulty.py"}
)  # that one gives no Program
RULES = [rule for rule in all_rules() if not rule.code.startswith("TDL00")]


def numbered(program: ir.Program) -> dict[int, tuple[str, int]]:
    """A name for each operation that does not depend on its node: body and number."""
    return {
        id(op): (f"{at}:{body.qualname}", number)
        for at, body in enumerate(program.bodies)
        for number, op in enumerate(op for block in body.blocks for op in block.ops)
    }


def said(program: ir.Program) -> list[tuple[str, str, str, tuple[str, int]]]:
    names = numbered(program)
    result = analyse(program, RULES)
    assert result.crashes == []
    return sorted(
        (report.rule.code, report.severity.label, report.message, names[id(report.op)]) for report in result.reports
    )


def without_nodes(program: ir.Program) -> ir.Program:
    ir.forget_nodes(program)
    return program


@lru_cache(1)
def parsed(path: Path) -> cst.Module:
    return cst.parse_module(path.read_bytes())


@cache
def said_with_nodes(path: Path) -> list[tuple[str, str, str, tuple[str, int]]]:
    return said(lower(parsed(path)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_rules_need_no_nodes(path: Path) -> None:
    assert said(without_nodes(lower(parsed(path)))) == said_with_nodes(path)


def test_the_fixtures_make_the_rules_speak() -> None:
    """Guards the test above: an analysis that says nothing would pass it."""
    spoken: set[str] = set()
    for path in FILES:
        if path.name == "faulty.py" and len(spoken) < 24:
            spoken.update(code for code, *_ in said_with_nodes(path))
    assert len(spoken) >= 24
