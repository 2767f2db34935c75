"""The state of an optimizer stays where it was loaded, also where the load, the move and the step are in different functions."""

from __future__ import annotations

import ast

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast
from torchdevlint.rules.policy import row_of

HEAD = """
import torch
from torch import nn

class Trainer:
    def __init__(self):
        self.net = nn.Linear(3, 3)
        self.opt = self.made()

    def made(self):
        return torch.optim.Adam(self.net.parameters())

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.opt.load_state_dict(state["opt"])
        return self

    def to(self, device):
        self.net.to(device)
        return self

    def bring_state(self, device):
        for state in self.opt.state.values():
            for key, value in state.items():
                if torch.is_tensor(value):
                    state[key] = value.to(device)
        return self

    def step(self, x):
        self.opt.zero_grad()
        self.net(x).sum().backward()
        self.opt.step()

def restore(model, optimizer, path):
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])

x = torch.ones(3, device="cuda")
"""


def told(text: str) -> list[str]:
    """The codes of what is told of a text behind the head."""
    return [row_of(fault).code for fault in analyse(from_ast.lower(ast.parse(HEAD + text))).decided()]


@pytest.mark.parametrize(
    "text",
    [
        'Trainer().load("a.pt").to("cuda").step(x)',
        'net = nn.Linear(3, 3)\nopt = torch.optim.Adam(net.parameters())\nrestore(net, opt, "a.pt")\nnet.cuda()\nopt.step()',
        'net = nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=1, momentum=0.9)\nrestore(net, opt, "a.pt")\nnet.cuda()\nopt.step()',
    ],
)
def test_a_state_that_was_loaded_before_the_move_stays_behind(text: str) -> None:
    assert told(text) == ["TDL202"]


@pytest.mark.parametrize(
    "text",
    [
        'Trainer().to("cuda").load("a.pt").step(x)',
        'Trainer().to("cuda").step(x)',
        'Trainer().load("a.pt").to("cuda").bring_state("cuda").step(x)',
        'Trainer().load("a.pt").to("cuda").load("a.pt").step(x)',
        'Trainer().load("a.pt").step(x.cpu())',
        'net = nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=1)\nrestore(net, opt, "a.pt")\nnet.cuda()\nopt.step()',
    ],
)
def test_a_state_that_is_where_the_parameters_are_is_not_told(text: str) -> None:
    assert told(text) == []


WRITTEN = """
model = nn.Linear(3, 3).to("cuda")
optimizer = torch.optim.Adam(model.parameters())
kept = {n: {k: v.detach().cpu() for k, v in optimizer.state[p].items()} for n, p in model.named_parameters()}
for n, p in model.named_parameters():
    entry = optimizer.state[p]
    for key, value in kept[n].items():
        entry[key] = value.clone()WHERE
optimizer.step()
"""


@pytest.mark.parametrize(("where", "is_told"), [("", True), (".to(p.device)", False)])
def test_state_that_the_program_puts_back_by_hand(where: str, is_told: bool) -> None:
    assert bool(told(WRITTEN.replace("WHERE", where))) == is_told
