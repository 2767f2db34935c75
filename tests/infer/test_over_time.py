"""What a program does one after the other: caches that are filled on one device and read on another, what a method leaves behind for the next one."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchdevlint import check_source
from torchdevlint.infer.analysis import analyse
from torchdevlint.infer.relevance import is_worth_telling
from torchdevlint.program import from_ast


def told(text: str) -> list[str]:
    """The verdicts of what is told of a program."""
    source = "import torch\nfrom torch import nn\n" + textwrap.dedent(text)
    return [one.verdict for one in analyse(from_ast.lower(ast.parse(source))).decided() if is_worth_telling(one)]


CACHE = """
CACHE = {{}}

def mask(x, n):
    key = {key}
    if key not in CACHE:
        CACHE[key] = torch.ones(n, device=x.device)
    return x + CACHE[key]

mask(torch.zeros(3), {first})
mask(torch.zeros(3, device="cuda"), {second})
"""


@pytest.mark.parametrize(
    ("key", "first", "second", "count"),
    [
        ("(n, x.device)", "3", "3", 0),
        ("(n, x.device)", "int(input())", "int(input())", 0),
        ("x.device", "3", "3", 0),
        ("(x.device, x.dtype, n)", "len(input())", "len(input())", 0),
        ("n", "3", "3", 1),
    ],
)
def test_a_cache_is_told_apart_by_the_device_in_its_key(key: str, first: str, second: str, count: int) -> None:
    assert told(CACHE.format(key=key, first=first, second=second)) == ["broken"] * count


METER = """
class Meter:
    def __init__(self, n, device):
        self.n, self.device = n, device
        self.total = torch.zeros(n, device=device)

    def reset(self, path):
        {reset}
{more}
    def update(self, x):
        self.total += x.to(self.device)
"""


@pytest.mark.parametrize(
    ("reset", "more", "count"),
    [
        ("self.total = torch.zeros(self.n)", "", 1),
        ("self.total = torch.load(path, map_location='cpu')['total']", "", 1),
        ("self.total = torch.zeros(self.n, device=self.device)", "", 0),
        ("self.total = torch.load(path, map_location=self.device)['total']", "", 0),
        ("self.total = self.total.cpu()", "", 0),  # it is brought there on purpose
        (
            "self.total = torch.zeros(self.n)",
            "\n    def to(self, device):\n        self.total = self.total.to(device)\n",
            0,
        ),
        ("self.total = None", "", 0),
    ],
)
def test_what_a_method_makes_anew_on_the_cpu_is_met_by_the_next_one(reset: str, more: str, count: int) -> None:
    assert told(METER.format(reset=reset, more=more)) == ["open"] * count


def test_a_model_that_its_program_brings_back_is_called_there_on_purpose() -> None:
    program = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

    def infer(self, rows):
        return self(torch.tensor(rows)).numpy()

net = Net()
net.to("cuda")
net(torch.ones(3, device="cuda"))
{back}
net.infer([1.0, 2.0, 3.0])
"""
    found = [
        check_source("import torch\nfrom torch import nn\n" + program.format(back=one)) for one in ("net.cpu()", "")
    ]
    codes = [{finding.code for finding in several} - {"TDL801"} for several in found]
    assert codes[0] == set() and codes[1] != set()


def test_of_attributes_that_are_moved_by_unknown_names_nothing_is_told() -> None:
    program = """
class Batch:
    def __init__(self, names):
        self.names, self.x, self.y = names, torch.ones(3), torch.ones(3)

    def to(self, device):
        for name in {names}:
            setattr(self, name, getattr(self, name).to(device))
        return self

batch = Batch(input().split()).to("cuda")
print(batch.y + torch.zeros(3, device="cuda"))
"""
    assert told(program.format(names="self.names")) == []
    assert told(program.format(names="('x', 'y')")) == []
    assert told(program.format(names="('x',)")) == ["broken"]


MANAGER = """
import contextlib

@contextlib.contextmanager
def on_cpu(net):
    {there}
    try:
        yield net
    finally:
        {back}

def report(net):
    with on_cpu(net):
        return net(torch.zeros(3))

net = nn.Linear(3, 1).to("cuda")
print(report(net))
"""


@pytest.mark.parametrize(
    ("there", "back", "is_told"),
    [
        ("net.cpu()", "net.cuda()", False),
        ("net.eval()", "net.train()", True),
        ("pass", "pass", True),
    ],
)
def test_in_a_context_that_moves_a_model_it_is_not_where_the_end_brings_it(
    there: str, back: str, is_told: bool
) -> None:
    assert bool(told(MANAGER.format(there=there, back=back))) is is_told


AGENT = """
class Agent:
    def __init__(self):
        self.net = nn.Linear(3, 1)

    def fit(self):
        self.net.cuda()
        self.net(torch.zeros(3, device="cuda")).sum().backward()
        {back}

    def learn(self, step):
        if step % 3 == 0:
            self.fit()

    def choose(self):
        return self.net(torch.zeros(3))

agent = Agent()
for step in range(9):
    agent.choose()
    agent.learn(step)
"""


def test_a_model_that_is_brought_back_under_the_same_condition_is_where_it_was() -> None:
    assert told(AGENT.format(back="self.net.cpu()")) == []
    assert told(AGENT.format(back="pass")) == ["broken"]


BATCH = """
def move(batch, device):
    return {{k: v if k == "index" else v.to(device) for k, v in batch.items()}}

rows = {rows}
moved = move(rows, "cuda")
{use}
"""


@pytest.mark.parametrize(
    ("use", "count"),
    [
        ("torch.zeros(9)[moved['index']]", 0),
        ("torch.zeros(9, device='cuda') + moved['index']", 1),
        ("torch.zeros(3, device='cuda') + moved['x']", 0),
        ("torch.zeros(3) + moved['x']", 1),
    ],
)
def test_a_comprehension_over_a_dict_moves_the_keys_that_it_says(use: str, count: int) -> None:
    rows = "{'x': torch.zeros(3), 'index': torch.zeros(3).long()}"
    assert told(BATCH.format(rows=rows, use=use)) == ["broken"] * count


def test_a_comprehension_that_asks_for_something_else_than_the_key_moves_all_or_nothing() -> None:
    text = BATCH.format(
        rows="{'x': torch.zeros(3), 'index': torch.zeros(3)}", use="torch.zeros(3, device='cuda') + moved['x']"
    )
    asked = text.replace('k == "index"', 'where == "cpu"').replace(
        "def move(batch, device)", "def move(batch, device, where)"
    )
    assert told(asked.replace('"cuda")', '"cuda", "cpu")', 1)) == ["broken"]
    assert told(asked.replace('"cuda")', '"cuda", "gpu")', 1)) == []


COPIED = """
import copy

class Net(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.layers = nn.ModuleList()
        for kind in kinds:
            if kind:
                self.layers.append(nn.Linear(3, 3))
            else:
                self.layers.append(nn.RNN(3, 3))
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.layers[0].weight

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.tied(x)

net = Net([True, False]).cuda()
copied = copy.deepcopy(net).cpu()
print(net(torch.zeros(3, 3, device="{first}")))
print(copied(torch.zeros(3, 3, device="{second}")))
"""


def test_a_copy_moves_without_its_original() -> None:
    assert told(COPIED.format(first="cuda", second="cpu")) == []
    assert "broken" in told(COPIED.format(first="cpu", second="cpu"))
    assert "broken" in told(COPIED.format(first="cuda", second="cuda"))


MADE_ON_ONE_SIDE = """
import copy, sys

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.zeros(3))

    def forward(self, x):
        return x + self.shift

def fit(net, rows, device):
    best, lowest = None, 9.0
    for row in rows:
        loss = net(row.to(device)).sum()
        if loss.item() < lowest:
            lowest, best = loss.item(), copy.deepcopy(net){there}
    return best

def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = torch.zeros(4, 3)
    net = Net().to(device)
    best = fit(net, rows, device)
    print(net(rows.to(device)))
    print(best(rows))

main()
"""


def test_what_is_made_on_one_side_alone_is_where_that_side_moves_it() -> None:
    assert told(MADE_ON_ONE_SIDE.format(there=".cpu()")) == []
    assert told(MADE_ON_ONE_SIDE.format(there="")) == ["broken"]


LINKED = """
import copy

class Child(nn.Module):
    def __init__(self, parent):
        super().__init__()
        self.links = [parent]
        self.layer = nn.Linear(3, 3)

class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child(self)

    def forward(self, x):
        return self.child.layer(x)

net = copy.deepcopy(Parent().cuda()){there}
print(net(torch.zeros(3)))
"""


def test_modules_that_hold_each_other_are_copied() -> None:
    assert told(LINKED.format(there=".cpu()")) == []
    assert told(LINKED.format(there="")) == ["broken"]
