"""Loops that move modules: what the next turn meets is where this one has left it."""

from __future__ import annotations

import pytest
from test_over_time import told

from torchdevlint import check_source
from torchdevlint.severity import Severity

IN_ONE_FUNCTION = """
def train():
    model = nn.Linear(3, 3).to("cuda")
    for epoch in range(10):
        {first}
        model(torch.zeros(3, device="cuda"))
        {last}

train()
"""
SAVED = "model.cpu(); torch.save(model.state_dict(), 'x')"


@pytest.mark.parametrize(
    ("first", "last", "is_told"),
    [
        ("pass", SAVED, True),
        ("pass", f"if epoch % 2: {SAVED}", True),
        ("pass", f"{SAVED}; model.cuda()", False),
        ("model.cuda()", SAVED, False),
        ("pass", "if epoch == 9: model.cpu(); break", False),
    ],
)
def test_a_model_that_a_turn_leaves_on_the_cpu_meets_the_next_input(first: str, last: str, is_told: bool) -> None:
    assert ("broken" in told(IN_ONE_FUNCTION.format(first=first, last=last))) == is_told


CALLBACKS = """
class Trainer:
    def __init__(self, model, hooks):
        self.model, self.hooks = model.to("cuda"), hooks

    def fit(self):
        for epoch in range(10):
            score = self.model(torch.zeros(3, device="cuda")).sum().item()
            for hook in self.hooks:
                hook.after(self, score)

class Keep:
    best = 0.0

    def after(self, trainer, score):
        trainer.model.cpu()
        {early}
        torch.save(trainer.model.state_dict(), "x")
        trainer.model.to("cuda")

Trainer(nn.Linear(3, 3), [Keep()]).fit()
"""


def test_a_callback_that_returns_early_leaves_the_model_where_it_was_brought() -> None:
    assert "broken" in told(CALLBACKS.format(early="if score < self.best: return"))
    assert told(CALLBACKS.format(early="pass")) == []


def test_a_model_that_is_moved_in_the_first_turn_alone_stays_there() -> None:
    text = """
    model = nn.Linear(3, 3)
    for step in range(10):
        if step == 0:
            model.cuda()
        model(torch.zeros(3, device="cuda"))
    """
    assert told(text) == []


COPY = """
import copy

net = nn.Linear(3, 3)
for turn in range(10):
    net.cpu()
    champion = copy.deepcopy(net)
    net.cuda()
    net(torch.zeros(3, device="cuda"))
    champion(torch.zeros(3, device="{where}"))
"""


def test_a_copy_stays_where_it_was_made() -> None:
    assert told(COPY.format(where="cpu")) == []
    assert "broken" in told(COPY.format(where="cuda"))


RESUMED = """
class Coach:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def learn(self):
        self.net.to("cuda")
        self.optimizer.step()

    def restore(self, state):
        {moved}
        self.optimizer.load_state_dict(state)

    def run(self, state):
        for turn in range(10):
            self.learn()
            self.net.cpu()
            self.restore(state)

Coach(nn.Linear(3, 3)).run(torch.load("x"))
"""


def test_state_that_is_loaded_while_the_model_is_on_the_cpu_meets_the_next_step() -> None:
    assert "broken" in told(RESUMED.format(moved="pass"))
    assert told(RESUMED.format(moved='self.net.to("cuda")')) == []


def test_it_is_told_at_the_move_that_leaves_it_there() -> None:
    text = "import torch\nfrom torch import nn\n" + IN_ONE_FUNCTION.format(first="pass", last="model.cpu()")
    [found] = [one for one in check_source(text, "a.py") if one.code == "TDL401"]
    assert text.splitlines()[found.span.start.row - 1].strip() == "model.cpu()"
    assert found.severity is Severity.WARNING  # a loop may have one turn
    assert found.message.endswith("move it back")


BESIDE = """
def train():
    reference = nn.Linear(3, 3)
    reference.cpu()
    model = nn.Linear(3, 3).to("cuda")
    for epoch in range(10):
        reference(torch.zeros(3))
        model(torch.zeros(3, device="cuda"))
        model.cpu()

train()
"""


def test_what_stays_on_the_cpu_on_purpose_is_not_told_of() -> None:
    text = "import torch\nfrom torch import nn\n" + BESIDE
    [found] = [one for one in check_source(text, "a.py") if one.code == "TDL401"]
    assert text.splitlines()[found.span.start.row - 1].strip() == "model.cpu()"


@pytest.mark.parametrize("offload", ["True", "False"])
def test_what_a_flag_moves_for_the_next_turn_a_caller_decides(offload: str) -> None:
    text = f"""
import torch
from torch import nn

def run(items, offload):
    model = nn.Linear(3, 3).cuda()
    for item in items:
        out = model(item.cuda())
        if offload:
            model.cpu()
    return out

print(run([torch.ones(3, 3), torch.ones(3, 3)], {offload}))
"""
    codes = [finding.code for finding in check_source(text) if finding.code != "TDL801"]
    assert codes == (["TDL401"] if offload == "True" else [])
