"""The device that the program chose keeps the conditions of the choice: it meets no CPU of the other branch."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

TEXT = """
import argparse
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, several):
        x = torch.cat([x.new_zeros(3) for x in several])
        return self.layer(x * torch.arange(3).to(x.device))

def main(args):
    if {model}:
        net = Net().cuda()
    else:
        net = Net()
    several = [torch.zeros(3) for _ in range(args.count)]
    if {items}:
        for at, x in enumerate(several):
            if torch.is_tensor(x):
                several[at] = several[at].cuda()
    net(several)

parser = argparse.ArgumentParser()
main(parser.parse_args())
"""


def verdicts(**tests: str) -> list[str]:
    return [fault.verdict for fault in analyse(from_ast.lower(ast.parse(TEXT.format(**tests)))).decided()]


@pytest.mark.parametrize(
    "test", ["args.gpu", "not args.cpu", "args.gpu and args.count > 1", "torch.cuda.is_available()"]
)
def test_what_the_same_flag_moves_is_on_one_device(test: str) -> None:
    assert verdicts(model=test, items=test) == []


def test_what_another_flag_moves_is_not() -> None:
    # with the flag the items are left behind, without it the model is
    assert verdicts(model="args.gpu", items="not args.gpu") == ["broken", "broken"]


def test_what_is_always_moved_is_not() -> None:
    assert verdicts(model="args.gpu", items="True") == ["broken"]


def test_what_neither_of_two_conditions_moves_is_elsewhere_than_what_one_moves() -> None:
    assert verdicts(model="args.gpu and args.fast", items="args.gpu") == ["broken"]


RANKS = """
import numpy as np
import torch

def _score(x, average):
    x = torch.relu(x)
    if average:
        return x.mean()
    else:
        return x.mean(1).mean(1)

def score(x, average=True):
    return _score(x, average)

found = score(torch.zeros(2, 3, 4, device="cuda"){given}).data[0]
np.array([found])
"""


@pytest.mark.parametrize(("given", "told"), [("", []), (", average=False", ["broken"])])
def test_a_flag_of_the_caller_tells_a_number_from_a_vector(given: str, told: list[str]) -> None:
    text = RANKS.format(given=given)
    assert [fault.verdict for fault in analyse(from_ast.lower(ast.parse(text))).decided()] == told
