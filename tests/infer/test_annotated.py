"""Annotations of containers of tensors: what is taken out of them meets others as a tensor."""

from __future__ import annotations

import ast

import pytest

from torchdevlint import check_source, fix_source
from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

HEAD = "import torch\nfrom torch import Tensor\nfrom typing import *\n"


def verdicts(text: str) -> list[str]:
    return [fault.verdict for fault in analyse(from_ast.lower(ast.parse(HEAD + text))).decided()]


@pytest.mark.parametrize(
    ("annotation", "used"),
    [
        ("Tensor", "a"),
        ("Optional[Tensor]", "a"),
        ("Tensor | tuple[Tensor, ...]", "a"),
        ("List[Tensor]", "a[0]"),
        ("Sequence[torch.Tensor]", "a[0]"),
        ("Tuple[Tensor, Tensor]", "a[1]"),
        ("Dict[str, Tensor]", "a['x']"),
        ("Mapping[str, List[Tensor]]", "a['x'][0]"),
        ("Optional[List[Tensor]]", "a[0]"),
    ],
)
def test_what_is_said_to_be_a_tensor_is_one(annotation: str, used: str) -> None:
    assert verdicts(f"def f(a: {annotation}):\n    return {used} + torch.ones(3)\n") == ["open"]


@pytest.mark.parametrize("annotation", ["List[Tensor]", "Iterable[Tensor]", "Tuple[Tensor, ...]", "Iterator[Tensor]"])
def test_a_loop_over_tensors_gives_tensors(annotation: str) -> None:
    text = f"def f(a: {annotation}):\n    for one in a:\n        print(one + torch.ones(3))\n"
    assert verdicts(text) == ["open"]


@pytest.mark.parametrize(
    ("annotation", "used"),
    [
        ("Tensor | float", "a"),
        ("Tuple[Tensor, int]", "a[1]"),
        ("List[float]", "a[0]"),
        ("Dict[Tensor, float]", "a[0]"),
        ("List[Tensor] | float", "a"),
        ("Any", "a"),
        ("None", "a"),
    ],
)
def test_what_may_be_something_else_is_not_taken_for_a_tensor(annotation: str, used: str) -> None:
    assert verdicts(f"def f(a: {annotation}):\n    return {used} + torch.ones(3)\n") == []


def test_a_repair_in_a_comprehension_names_its_variable() -> None:
    text = HEAD + "def f(some: List[Tensor]):\n    return [one + torch.zeros(one.shape) for one in some]\n"
    (finding,) = check_source(text, level="info")
    assert "`device=one.device`" in finding.message
    assert "torch.zeros(one.shape, device=one.device) for one in some" in fix_source(text, unsafe=True, level="info")[0]
