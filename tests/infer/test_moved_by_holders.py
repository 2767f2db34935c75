"""What an object was made with moves where a method of its class says: a caller knows the class that a function leaves open."""

from __future__ import annotations

import ast

from torchdevlint.infer.analysis import analyse
from torchdevlint.program import from_ast

TEXT = """
import torch
from torch import nn

class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x):
        return self.layer(x)

class First:
    def __init__(self, agent):
        self.agent = agent
    def cuda(self):
        {first}

class Second:
    def __init__(self, agent):
        self.agent = agent
        self.critic = nn.Linear(3, 1)
    def cuda(self):
        {second}
        self.critic.cuda()

LEARNERS = {{"first": First, "second": Second}}

def run(learner_of, {given}):
    {made}
    learner = learner_of(agent)
    learner.cuda()
    agent(torch.zeros(3, device="cuda"))

{called}
"""
CHOSEN = "import sys\nrun(LEARNERS[sys.argv[1]], Agent())"


def verdicts(**parts: str) -> list[str]:
    given = {
        "first": "self.agent.cuda()",
        "second": "self.agent.cuda()",
        "given": "agent",
        "made": "pass",
        "called": CHOSEN,
    }
    return [one.verdict for one in analyse(from_ast.lower(ast.parse(TEXT.format_map(given | parts)))).decided()]


def test_each_class_that_it_may_be_of_moves_what_it_holds() -> None:
    assert verdicts() == []
    assert verdicts(first="pass", second="pass") == ["broken"]


def test_what_an_open_class_was_given_may_move_with_its_object() -> None:
    inside = {"given": "_=None", "made": "agent = Agent()"}
    assert verdicts(**inside, called="run(First)", second="pass") == []
    assert verdicts(**inside, called=CHOSEN.replace("Agent()", "None")) == []
