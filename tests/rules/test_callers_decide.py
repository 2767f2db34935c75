"""What a function is given: the callers of a project decide whether its claims are told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from torchdevlint import check_paths

SHIFT = """
import torch

def shift(points: torch.Tensor):
    return points + torch.ones(points.shape[0], 2)
"""
SOLVE = """
import torch

def solve(model: torch.nn.Module):
    inputs = torch.zeros(3, 4)
    return model(inputs).sum()
"""
METHOD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

    def trial(self):
        return self.layer(torch.rand(8, 3))
"""
MASKS = """
import torch

class Masks:
    def __init__(self, masks):
        self.masks = masks

    def flip(self):
        return Masks(self.masks.flip(1))

    def outlines(self):
        return self.masks.detach().numpy()

    def show(self):
        return self.outlines()
"""
TRAIN = """
import torch
import nets
from nets import Small, Large

def train(loader: torch.utils.data.DataLoader, device, large):
    net = {}
    net.to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in loader:
        net(batch).sum().backward()
        optimizer.step()
"""
NET = """
import torch

class {}(torch.nn.Module):
    def forward(self, batch):
        device = self.place
        images = {}
        return self.layer(images)
"""
VALIDATE = """
import torch
from models import Net

def validate(net, loader: torch.utils.data.DataLoader, device):
    net.to(device)
    for batch in loader:
        images = batch["images"]
        ids = batch["ids"].to(device)
        net(ids, images)

def main(path, loader: torch.utils.data.DataLoader, device):
    net = Net.from_pretrained(path) if path else Net()
    net = torch.compile(net.eval())
    validate(net, loader, device)
"""
VISION = """
import torch

class Net(torch.nn.Module):
    def forward(self, ids, images):
        images = self.{}(images, ids.device)
        return self.layer(ids, images)

    def joined(self, images, device):
        return torch.cat(images).to(device)

    def stacked(self, images, device):
        return torch.stack(images)
"""
CALL = "import torch\nfrom shapes import shift\n"
# name: (the file that is checked, whether it is told, the project's files)
PROJECTS: dict[str, tuple[str, bool, Mapping[str, str]]] = {
    "a file by itself": ("shapes.py", True, {"shapes.py": SHIFT}),
    "a caller gives a moved tensor": (
        "shapes.py",
        True,
        {"shapes.py": SHIFT, "train.py": CALL + "def run(batch, device):\n    return shift(batch.to(device))"},
    ),
    "a caller gives a tensor of the device that it chose": (
        "shapes.py",
        True,
        {
            "shapes.py": SHIFT,
            "train.py": CALL
            + "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nprint(shift(torch.rand(4, 2, device=device)))",
        },
    ),
    "the only caller gives a CPU tensor": (
        "shapes.py",
        False,
        {"shapes.py": SHIFT, "data.py": CALL + "def load():\n    return shift(torch.rand(4, 2))"},
    ),
    "a test gives a tensor made on the CPU, as tests do": (
        "shapes.py",
        True,
        {"shapes.py": SHIFT, "test_shapes.py": CALL + "def test_shift():\n    assert shift(torch.rand(4, 2)).sum()"},
    ),
    "a program called test.py gives a tensor made on the CPU": (
        "shapes.py",
        False,
        {"shapes.py": SHIFT, "test.py": CALL + "def test_epoch():\n    return shift(torch.rand(4, 2))\ntest_epoch()"},
    ),
    "one caller of two gives a moved tensor": (
        "shapes.py",
        True,
        {
            "shapes.py": SHIFT,
            "data.py": CALL + "def load():\n    return shift(torch.rand(4, 2))",
            "train.py": CALL + "def run(batch):\n    return shift(batch.cuda())",
        },
    ),
    "the caller hands on what its own caller moved": (
        "shapes.py",
        True,
        {
            "shapes.py": SHIFT,
            "steps.py": CALL + "def step(batch):\n    return shift(batch)",
            "train.py": "from steps import step\ndef run(batch, device):\n    return step(batch.to(device))",
        },
    ),
    "the caller hands on what its own caller made on the CPU": (
        "shapes.py",
        False,
        {
            "shapes.py": SHIFT,
            "steps.py": CALL + "def step(batch):\n    return shift(batch)",
            "data.py": "import torch\nfrom steps import step\ndef load():\n    return step(torch.rand(4, 2))",
        },
    ),
    "the forward of a module of another file calls it": (
        "shapes.py",
        True,
        {
            "shapes.py": SHIFT,
            "net.py": CALL + "class Net(torch.nn.Module):\n    def forward(self, x):\n        return shift(x)",
            "gpu.py": "print('cuda')",
        },
    ),
    "nobody knows what the only caller gives": (  # a note: two readings of 107 findings had none of these true in a program
        "shapes.py",
        False,
        {"shapes.py": SHIFT, "use.py": CALL + "def run(source):\n    return shift(source.read())"},
    ),
    "it is imported, and nobody calls it": ("shapes.py", True, {"shapes.py": SHIFT, "use.py": CALL}),
    "another function of that name is called with a moved tensor": (
        "shapes.py",
        False,
        {
            "shapes.py": SHIFT,
            "other.py": "def shift(points):\n    return points",
            "data.py": CALL + "def load():\n    return shift(torch.rand(4, 2))",
            "train.py": "from other import shift\ndef run(batch):\n    return shift(batch.cuda())",
        },
    ),
    "a function is given a model that was moved": (
        "solver.py",
        True,
        {
            "solver.py": SOLVE,
            "train.py": "import torch\nfrom solver import solve\nmodel = torch.nn.Linear(4, 4).cuda()\nsolve(model)",
        },
    ),
    "a function is given a model on the CPU": (
        "solver.py",
        False,
        {
            "solver.py": SOLVE,
            "trial.py": "import torch\nfrom solver import solve\nmodel = torch.nn.Linear(4, 4)\nsolve(model)",
        },
    ),
    "a method of a model that was not moved": (  # others may move theirs
        "net.py",
        True,
        {"net.py": METHOD + "\nmodel = Net()\nmodel.trial()"},
    ),
    "a method of a model that another file makes": (
        "net.py",
        True,
        {"net.py": METHOD, "trial.py": "from net import Net\nmodel = Net()\nmodel.trial()", "gpu.py": "print('cuda')"},
    ),
    "an object gets a moved tensor": (
        "masks.py",
        True,
        {
            "masks.py": MASKS,
            "use.py": "from masks import Masks\ndef use(x):\n    return Masks(x.cuda()).outlines()",
        },
    ),
    "an object gets a CPU tensor": (
        "masks.py",
        False,
        {
            "masks.py": MASKS,
            "use.py": "import torch\nfrom masks import Masks\nDEVICE = 'cuda'\ndef use():\n    return Masks(torch.zeros(2, 3)).outlines()",
        },
    ),
    "a model that moves its inputs, or reads none": (
        "train.py",
        False,
        {
            "train.py": TRAIN.format("Large() if large else Small()").replace(
                "net = Large() if large else Small()",
                "if large:\n        net = Large()\n    else:\n        net = nets.Small()",
            ),
            "nets.py": NET.format("Large", "batch['image'].to(device)") + NET.format("Small", "device"),
        },
    ),
    "a model one of whose classes reads its inputs where they are": (  # what its layers are is not seen
        "train.py",
        False,
        {
            "train.py": TRAIN.format("Large() if large else Small()").replace(
                "net = Large() if large else Small()",
                "if large:\n        net = Large()\n    else:\n        net = nets.Small()",
            ),
            "nets.py": NET.format("Large", "batch['image'].to(device)") + NET.format("Small", "batch['image']"),
        },
    ),
    "a model of a caller that moves an input in a method": (
        "train.py",
        False,
        {"train.py": VALIDATE, "models.py": VISION.format("joined")},
    ),
    "a model of a caller that moves an input in no method": (
        "train.py",
        True,
        {"train.py": VALIDATE, "models.py": VISION.format("stacked")},
    ),
}


@pytest.mark.parametrize("name", PROJECTS)
def test_the_callers_decide(name: str, tmp_path: Path) -> None:
    asked, told, files = PROJECTS[name]
    (tmp_path / ".git").mkdir()
    for path, text in files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = list(check_paths([tmp_path / asked]))
    assert bool(found) is told, [finding.message for finding in found]


FILTERS = """
import torch
from torch import nn
from convolve import convolve

class Filters(nn.Module):
    def __init__(self, cutoffs):
        super().__init__()
        window = torch.hann_window(9)
        filters = [window * cutoff for cutoff in cutoffs]
        self.filters = torch.stack(filters)[:, None]
        self.is_long = len(filters) > 2

    def forward(self, x):
        return convolve(x, self.filters) if self.is_long else nn.functional.conv1d(x, self.filters)
"""


def test_an_attribute_that_meets_a_tensor_in_another_file_is_told_of_where_the_module_keeps_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "filters.py").write_text(FILTERS, encoding="utf-8")
    convolve = "import torch\n\ndef convolve(x: torch.Tensor, weight: torch.Tensor):\n    return torch.relu(x) * torch.relu(weight)\n"
    (tmp_path / "convolve.py").write_text(convolve, encoding="utf-8")
    (found,) = check_paths([tmp_path / "filters.py"])
    assert (found.code, found.span.start.row) == ("TDL603", 11)
    assert found.detail.startswith(("Line 15 combines", "convolve.py:4 combines"))


CELL = """
import torch

class Cell(torch.nn.Module):
    def __init__(self, step, first, scale=None):
        super().__init__()
        self.step, self.first, self.scale = step, first, scale

    def forward(self, x: torch.Tensor, state=None):
        state = state if state is not None else self.first(x)
        return self.step(x, state)
"""
STEP = """
from typing import NamedTuple
import torch

class State(NamedTuple):
    v: torch.Tensor
    i: torch.Tensor

def step(x, state: State):
    jump = x + state.i
    return jump, State(state.v, jump)
"""
SPIKES = """
import torch
from cell import Cell
{}

class Spikes(Cell):
    def __init__(self, **kwargs):
        super().__init__(step, self.start, **kwargs)

    def start(self, x: torch.Tensor):
        return State(torch.ones(2, device=x.device), torch.zeros(*x.shape))
"""


@pytest.mark.parametrize("head", [STEP, "from step import State, step"], ids=["here", "in a third file"])
def test_what_a_constructor_gives_to_a_base_in_another_file_is_called_there(head: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = SPIKES.format(head)
    (tmp_path / "README.md").write_text("See spikes.py.", encoding="utf-8")
    for name, content in {"cell": CELL, "step": STEP, "spikes": text}.items():
        (tmp_path / f"{name}.py").write_text(content, encoding="utf-8")
    (found,) = check_paths([tmp_path / "spikes.py"])
    assert (found.code, found.span.start.row) == ("TDL504", text[: text.index("torch.zeros(")].count("\n") + 1)
