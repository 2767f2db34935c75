"""What a module holds goes along where the module is moved, also where only a caller knows what that is."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast
from torchdevlint.rules.policy import row_of

HEAD = """
import numpy as np
import torch
from torch import nn

device = torch.device("cuda")

def scaled(layer, gain=np.sqrt(2)):
    nn.init.orthogonal_(layer.weight, gain)
    return layer

class Held(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.body = nn.Sequential(scaled(nn.Linear(n, n)), nn.Tanh())

    def forward(self, x):
        return self.body(x)

def moved(net):
    return Held(net).to(device)

def moved_and_called(net, x):
    held = Held(net)
    held.to(device)
    return held(x)

def made(**options):
    net = Net(**options)
    return net.to(device)

def held_and_made(**options):
    return Held(made(**options)).to(device)

def moved_twice(net):
    return moved(Held(net))

class Agent:
    def __init__(self, n):
        self.net = Net(n).to(device)

    def act(self, x):
        return self.net(x)

"""


def told(text: str) -> list[str]:
    """The codes of what is told of a text behind the head."""
    return [row_of(fault).code for fault in analyse(from_ast.lower(ast.parse(HEAD + text))).decided()]


@pytest.mark.parametrize(
    "text",
    [
        "moved(nn.Linear(3, 3))(torch.zeros(3).to(device))",
        "moved_and_called(nn.Linear(3, 3), torch.zeros(3).to(device))",
        "moved_twice(nn.Linear(3, 3))(torch.zeros(3).to(device))",
        "moved(nn.Sequential(nn.Linear(3, 3)))(torch.zeros(3).to(device))",
        "Agent(3).act(torch.zeros(3).to(device))",
        "made(n=3)(torch.zeros(3).to(device))",
        "held_and_made(n=3)(torch.zeros(3).to(device))",
    ],
)
def test_it_is_where_the_module_was_moved(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("moved(nn.Linear(3, 3))(torch.zeros(3))", "TDL504"),
        ("moved(nn.Linear(3, 3)).cpu()(torch.zeros(3).to(device))", "TDL401"),
        ("Held(nn.Linear(3, 3))(torch.zeros(3).to(device))", "TDL401"),
        ("Agent(3).act(torch.zeros(3))", "TDL504"),
        ("made(n=3)(torch.zeros(3))", "TDL504"),
        ("Net(3)(torch.zeros(3).to(device))", "TDL401"),
    ],
)
def test_what_is_elsewhere_is_told(text: str, code: str) -> None:
    assert told(text) == [code]


def test_what_is_no_module_stays_where_it_is() -> None:
    assert told("moved(torch.zeros(3)).net + torch.zeros(3).to(device)") == ["TDL505"]


@pytest.mark.parametrize("named", ["torch.FloatTensor", "'torch.LongTensor'"])
def test_a_type_of_tensors_names_the_cpu(named: str) -> None:
    assert told(f"torch.zeros(3).to(device).type({named}).numpy()") == []
    assert told(f"(torch.zeros(3).to(device).type({named}) + torch.zeros(3).to(device)).sum()") == ["TDL505"]


def test_a_data_type_names_no_device() -> None:
    assert told("torch.zeros(3).to(device).type(torch.float64).numpy()") == ["TDL509"]


def test_what_is_written_to_is_what_comes_back() -> None:
    text = """
def shifted(mask, n):
    if n > 8:
        mask = nn.functional.pad(mask, [0, n])
    return mask << torch.arange(8, out=mask.new())
"""
    assert told(text) == []
    assert told(text.replace(", out=mask.new()", "")) == ["TDL504"]
