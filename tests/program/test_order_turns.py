"""Ways through a body where `for` loops have a turn."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchdevlint.program import from_ast, ir
from torchdevlint.program.cfg import Cfg
from torchdevlint.program.lookup import Lookup
from torchdevlint.program.order import block_of, reachable, reachable_by_turns

LOOP = """
def run(loader):
    start()
    for batch in loader:
        {inside}
    end()
"""


def blocks(text: str) -> tuple[ir.Body, dict[str, int]]:
    body = from_ast.lower(ast.parse(textwrap.dedent(text))).module.functions[0]
    lookup = Lookup.of(body)
    found = {lookup.called(call): block_of(body, call) for call in lookup.kind(ir.Call)}
    return body, {name: block.index for name, block in found.items() if block is not None}


@pytest.mark.parametrize(
    ("inside", "is_passed"),
    [
        ("demand()", True),
        ("x = batch\n        demand()", True),
        ("if batch: demand()", False),
        ("if batch: break\n        demand()", False),
        ("if batch: continue\n        demand()", False),
        ("for one in batch: demand()", True),
        ("while batch: demand()", False),
    ],
)
def test_what_every_turn_passes_is_passed(inside: str, is_passed: bool) -> None:
    body, at = blocks(LOOP.format(inside=inside))
    left = reachable_by_turns(body, at["start"], {at["demand"]}, Cfg.of(body).turns.__contains__)
    assert (at["end"] not in left) == is_passed
    assert at["end"] in reachable(body, at["start"], beyond={at["demand"]})


def test_a_loop_without_turns_passes_nothing() -> None:
    body, at = blocks(LOOP.format(inside="demand()"))
    assert at["end"] in reachable_by_turns(body, at["start"], {at["demand"]}, lambda _: False)
