"""A claim of a module that a function makes is of the moment, whatever the function does with the module behind it."""

from __future__ import annotations

import pytest

from torchdevlint.infer import analysis
from torchdevlint.infer.summary import Claim
from torchdevlint.program import from_ast

_TRAIN = """
from torch import nn

def train(place, x, setup):
    net = nn.Linear(4, 4).to(place)
    {before}
    y = x + net.weight
    net.to("cpu")
    return y
"""


@pytest.mark.parametrize(
    ("before", "is_placed"), [("pass", True), ("setup(x)", True), ("setup(net)", False), ("setup([net])", False)]
)
def test_where_it_is_when_it_is_called(before: str, is_placed: bool) -> None:
    done = analysis.Analysis(from_ast.read(_TRAIN.format(before=before))).run()
    (train,) = done.unit.program.module.functions
    summary = done.summary(train)
    assert summary is not None
    claims = [event.what for event in summary.events if isinstance(event.what, Claim)]
    weights = [operand for claim in claims for operand in claim.operands if getattr(operand.value, "follows", False)]
    found = [operand.is_placed for operand in weights]
    assert found == [is_placed]
