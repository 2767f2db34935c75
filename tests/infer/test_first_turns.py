"""The first turn of a loop begins with what was before it, each other one with what the turn before has left: the two are not mixed."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.summary import Fault
from torchdevlint.program import from_ast

HEAD = "import torch\nfrom torch import nn\n"


def decided(text: str) -> list[Fault]:
    return analyse(from_ast.lower(ast.parse(HEAD + textwrap.dedent(text)))).decided()


def test_what_two_names_leave_to_the_next_turn_meets_in_one_turn() -> None:
    text = """
    a, b = torch.zeros(3), torch.ones(3)
    for _ in range(count()):
        print(a + b)
        a, b = a.cuda(), {}
    """
    assert decided(text.format("b.cuda()")) == []
    assert [fault.verdict for fault in decided(text.format("b"))] == ["broken"]


STATE = """
import argparse
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(3, 3)
    def forward(self, x, hidden):
        return self.cell(x, hidden)
    def begin(self):
        return torch.zeros(1, 1, 3)

def generate(net):
    hidden = net.begin()
    x = torch.zeros(1, 1, 3)
    if args.gpu:
        x = x.cuda()
        {moved}
    for _ in range(count()):
        x, hidden = net(x, hidden)

args = argparse.ArgumentParser().parse_args()
net = Net()
if args.gpu:
    net.cuda()
generate(net)
"""


def test_a_state_that_is_not_moved_breaks_the_first_turn_for_certain() -> None:
    (fault,) = decided(STATE.format(moved="pass"))
    assert (fault.verdict, fault.sometimes, fault.may_differ) == ("broken", True, False)
    assert decided(STATE.format(moved="hidden = hidden.cuda()")) == []


@pytest.mark.parametrize(
    ("of_bias", "may_differ"),
    [("True", False), ("flag", False), ("other", True)],
    ids=["always", "the same", "another"],
)
def test_conditions_of_two_tensors_may_not_go_together(of_bias: str, may_differ: bool) -> None:
    text = f"""
    def run(flag, other):
        x = torch.zeros(3)
        if flag:
            x = torch.zeros(3, device="cuda")
        bias = None
        if {of_bias}:
            bias = torch.ones(3)
        return x + bias

    run(unknown(), unknown())
    """
    (fault,) = decided(text)
    assert (fault.verdict, fault.may_differ) == ("broken", may_differ)


def test_what_a_later_turn_alone_may_be_given_puts_the_first_turn_in_no_doubt() -> None:
    text = """
    def run(flag):
        held, x = torch.zeros(3), torch.ones(3).cuda()
        for _ in range(count()):
            x = held * x if flag else x + held
    run(count())
    """
    assert [fault.verdict for fault in decided(text)][:1] == ["broken"]
    assert not any(fault.may_differ for fault in decided(text))
