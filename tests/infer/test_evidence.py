"""How much must be known of an operand before a meeting is told as an error, and what makes a device unknown again."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source

HEAD = """
import numpy as np
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""


def told(text: str) -> list[tuple[str, str]]:
    """The code and the severity of what is told of a program, but for what concerns machines without a GPU."""
    found = check_source(HEAD + textwrap.dedent(text), "program.py", level="warning", ignore=["TDL8"])
    return [(one.code, one.severity.name.lower()) for one in found]


PARTS = """
def placed(example):
    parts = {}
    for key, value in example.items():
        if key in ("x", "y"):
            parts[key] = torch.as_tensor(value, device=device)
        else:
            parts[key] = value
    return parts

print(np.array([placed(dict(x=[1], name=read()))[key()]]))
"""


def test_what_may_be_no_tensor_is_no_error() -> None:
    assert told(PARTS) in ([], [("TDL509", "warning")])


def test_what_is_certain_is_an_error() -> None:
    assert told("print(np.array([torch.as_tensor([1], device='cuda')]))") == [("TDL509", "error")]


SHARED = """
class Gaussian:
    def __init__(self, mean):
        self.mean = mean

    def sample(self):
        return self.mean + torch.randn(self.mean.size()).to(device)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(3, 3))
        self.weight = Gaussian(self.mean)

    def forward(self, x):
        return x @ self.weight.sample()

layer = Layer().to(device)
layer(torch.zeros(3, 3).to(device))
"""


def test_a_parameter_that_another_object_keeps_moves_with_its_module() -> None:
    assert told(SHARED) == []


def test_a_tensor_that_another_object_keeps_stays() -> None:
    assert told(SHARED.replace("nn.Parameter(torch.zeros(3, 3))", "torch.zeros(3, 3)")) != []


LOSSES = """
net = nn.Linear(3, 2).cuda()
total = 0
for _ in range(3):
    loss = nn.CrossEntropyLoss()(net(torch.ones(4, 3).cuda()), torch.zeros(4).long().cuda())
    total += loss.data[0]
print(np.mean([total / 3]))
"""


def test_the_first_item_of_a_loss_is_a_number() -> None:
    assert told(LOSSES) == []
    assert told(LOSSES.replace("data[0]", "data")) == [("TDL509", "error")]


FILLED = """
from accelerate import init_empty_weights
from library import fill

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.scale

def create(state, where):
    net = Net()
    for key, value in state.items():
        fill(net, key, where, value)
    return net

net = create(torch.load("net.pt", map_location="cpu"), device)
for _ in range(3):
    net(torch.ones(2, 3).to(device))
"""


def test_a_library_that_is_given_a_module_and_a_device_may_bring_it_there() -> None:
    assert told(FILLED) == []
    assert told(FILLED.replace("fill(net, key, where, value)", "net.load_state_dict(state)")) == [("TDL401", "error")]


@pytest.mark.parametrize("manager", ["init_empty_weights()", "torch.no_grad()"])
def test_who_fills_an_empty_module_places_it(manager: str) -> None:
    text = FILLED.replace("    net = Net()", f"    with {manager}:\n        net = Net()")
    text = text.replace("fill(net, key, where, value)", "net.load_state_dict(state)")
    assert told(text) == ([] if "empty" in manager else [("TDL401", "error")])


MODES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def infer(self, x):
        y = self.layer(x)
        if not self.training:
            y = y.detach().cpu().numpy()
        return y

class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

whole = Whole().cuda()
whole.MODE
print(np.mean([whole.net.infer(torch.zeros(3).cuda())]))
"""


@pytest.mark.parametrize(
    ("mode", "expected"), [("eval()", []), ("train(False)", []), ("train()", [("TDL509", "error")])]
)
def test_the_mode_of_a_module_is_the_last_that_was_set(mode: str, expected: list[tuple[str, str]]) -> None:
    assert told(MODES.replace("MODE", mode)) == expected


def test_a_key_that_is_not_there_gives_nothing() -> None:
    text = """
        cache = {}
        x = torch.zeros(3, device="cuda")
        if "mask" not in cache:
            cache["mask"] = torch.ones(3)
        print(x + cache["mask"].clone())
    """
    assert told(text) == [("TDL505", "error")] or told(text) == [("TDL504", "error")]


def test_a_loader_makes_tensors_of_arrays() -> None:
    text = """
        class Points(torch.utils.data.Dataset):
            def __init__(self):
                self.data = np.zeros((8, 3))

            def __getitem__(self, item):
                points = self.data[item][:2]
                np.random.shuffle(points)
                return points, self.data[item]

        for data, label in torch.utils.data.DataLoader(Points(), batch_size=4):
            data, label = data.to(device), label.to(device).squeeze()
    """
    assert told(text) == []


LIKE = """
def like(v, device=None):
    return torch.{maker}(v{rest}, device=device)

def each(named, device=None):
    return {{name: torch.{maker}(v{rest}, device=device) for name, v in named.items()}}

x = torch.ones(3).cuda()
y = torch.ones(3)
like(x) + x
each({{"x": x}})["x"] + x
like(y, "cuda") + x
like(x, {where}) + y
"""


@pytest.mark.parametrize(("maker", "rest"), [("zeros_like", ""), ("full_like", ", 2.0")])
def test_a_device_that_a_caller_leaves_out_is_that_of_the_other_tensor(maker: str, rest: str) -> None:
    assert told(LIKE.format(maker=maker, rest=rest, where="'cpu'")) == []
    assert len(told(LIKE.format(maker=maker, rest=rest, where="None"))) == 1


TYPES = """
import argparse
args = argparse.ArgumentParser().parse_args()

def kind():
    return torch.cuda.FloatTensor if args.gpu else torch.FloatTensor

net = nn.Linear(3, 3)
net.type({of_net})
x = torch.ones(3)
if args.gpu:
    x = x.cuda()
net(x)
"""


def test_a_module_is_where_the_tensor_type_says() -> None:
    assert told(TYPES.format(of_net="kind()")) == []
    placed = TYPES.format(of_net="torch.cuda.FloatTensor").replace("net(x)", "net(torch.ones(3).cuda())")
    assert [code for code, _ in told(placed)] == ["TDL511"]
    assert [severity for _, severity in told(TYPES.format(of_net="torch.float64"))] == ["warning"]


SCATTERED = """
from torch.nn.parallel.data_parallel import DataParallel
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __getitem__(self, at):
        return torch.zeros(3), torch.ones(3)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
    def forward(self, x, target, scale=None):
        return (self.layer(x) - target["where"]).abs() * target["seen"][0] * scale

net = {wrapper}(Net()).cuda()
for x, where in DataLoader(Rows()):
    net(x, {{"where": where, "seen": [where]}}, scale=where)
"""


def test_a_wrapper_brings_what_lists_and_dicts_hold_to_its_module() -> None:
    assert told(SCATTERED.format(wrapper="DataParallel")) == []
    assert told(SCATTERED.format(wrapper="nn.DataParallel")) == []
    assert len(told(SCATTERED.format(wrapper="nn.Sequential"))) >= 1
