"""Functions that call each other in many places are summed up in work about as large as their text: counted, not timed."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import Analysis, analyse
from torchdevlint.program.from_ast import lower


def _printer(kinds: int) -> str:
    """A printer of syntax trees: one function that dispatches, one for half of the kinds, and closures that call the first."""
    cases = "".join(
        f"    if isinstance(value, K{i}):\n        return '{i}' + inner(value.left{i}) + _other(value.right{i}, nested)\n"
        for i in range(kinds)
    )
    inner = "    def inner(one):\n        return {}(one, nested + 1)\n"
    classes = "".join(f"class K{i}:\n    pass\n" for i in range(kinds))
    return (
        f"import torch\n{classes}\n"
        f"def show(value, nested=0):\n{inner.format('_other')}{cases}    return _several([inner(one) for one in value])\n\n"
        f"def _other(value, nested):\n{inner.format('show')}{cases}    return str(value)\n\n"
        "def _several(told):\n    return ', '.join(told)\n"
    )


def _tree_of_calls(methods: int) -> str:
    """A parser by recursive descent: each method calls the next two, the last ones the first."""
    parts = "".join(
        f"    def rule{i}(self, x):\n"
        f"        if x.kind == {i}:\n            return self.rule{(i + 1) % methods}(x.left)\n"
        f"        return [self.rule{(i + 2) % methods}(x.right), self.rule{(i + 1) % methods}(x.left)]\n"
        for i in range(methods)
    )
    return f"import torch\n\nclass Parser:\n    def __init__(self, text):\n        self.text = text\n{parts}"


def _analysed(text: str) -> Analysis:
    return analyse(lower(ast.parse(text)))


def _steps(analysis: Analysis) -> int:
    return analysis.roots.steps + sum(summary.heard.steps for summary in analysis.kept.summaries.values())


@pytest.mark.parametrize(
    ("text", "most"), [(_printer(12), 20_000), (_tree_of_calls(16), 20_000)], ids=["printer", "parser"]
)
def test_recursion_with_open_values_is_not_followed_through_all_its_branches(text: str, most: int) -> None:
    analysis = _analysed(text)
    assert _steps(analysis) < most
    assert "work on one function or class" not in analysis.bounds


def test_recursion_over_a_known_structure_is_followed() -> None:
    text = """import torch

def to(value, device):
    if isinstance(value, dict):
        return {key: to(one, device) for key, one in value.items()}
    if isinstance(value, list):
        return [to(one, device) for one in value]
    return value.to(device)

made = to({"a": [torch.zeros(3)]}, "cuda")
made["a"][0] + torch.ones(3)
"""
    assert [fault.verdict for fault in _analysed(text).decided()] == ["broken"]


def test_a_caller_that_gives_something_open_looks_into_its_parts() -> None:
    text = """import torch

def to(value, device):
    if isinstance(value, list):
        return [to(one, device) for one in value]
    return value.to(device)

def step(batch):
    batch = to(batch, "cuda")
    return batch + torch.ones(3)
"""
    assert [fault.verdict for fault in _analysed(text).decided()] == ["broken"]
