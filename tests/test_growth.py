"""The work that a file takes grows about as its size does, be the text unusual."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from torchdevlint.linter import lint
from torchdevlint.settings import Settings

_IN_FUNCTION = "import torch\n\ndef f(a, x):\n"
# Each shape with a number of parts, of which the smaller text has half and the bigger one twice as many, and the text of part `i`.
SHAPES: dict[str, tuple[int, str, Callable[[int], str]]] = {
    "moves on a condition": (
        100,
        _IN_FUNCTION,
        lambda i: f'    if a[{i}]: x = x.to("cuda:1") + torch.zeros({i})\n',
    ),
    "tests of the machine": (
        200,
        _IN_FUNCTION,
        lambda i: f"    if torch.cuda.is_available():\n        y{i} = x.cuda()\n    else:\n        y{i} = x\n",
    ),
    "devices": (120, _IN_FUNCTION, lambda i: f"    y{i} = torch.zeros(3).to(torch.device('cuda:{i % 8}'))\n"),
    "loads": (150, "import torch\n", lambda i: f"x{i} = torch.load('a{i}.pt')\n"),
    "moves in the module": (120, "import torch\n", lambda i: f"x{i} = torch.zeros({i})\nx{i} = x{i}.cuda()\n"),
    "branches of one if": (
        200,
        "import torch\n\ndef f(a, x):\n    if a == -1:\n        y = x\n",
        lambda i: f"    elif a == {i}:\n        y{i} = x + torch.zeros({i})\n",
    ),
    "methods": (
        120,
        "import torch\nfrom torch import nn\n\nclass M(nn.Module):\n",
        lambda i: f"    def m{i}(self, x):\n        self.a{i} = torch.zeros({i})\n        return self.m{i + 1}(x)\n",
    ),
    "comprehensions": (100, "import torch\n", lambda i: f"y{i} = [torch.zeros(b) for b in range({i})]\n"),
    "calls that meet a tensor": (200, _IN_FUNCTION, lambda i: f"    x = torch.add(x, torch.ones({i}))\n"),
    "devices in variables": (
        60,
        _IN_FUNCTION,
        lambda i: f"    device{i} = torch.device('cuda:{i % 8}')\n    y{i} = torch.zeros(3, device=device{i})\n",
    ),
    "conversions to NumPy": (60, _IN_FUNCTION, lambda i: f"    y{i} = x.cuda().numpy()\n"),
    "moves that are thrown away": (300, _IN_FUNCTION, lambda i: "    x.to('cuda')\n"),
    "states that are loaded": (120, _IN_FUNCTION, lambda i: f"    m{i}.load_state_dict(torch.load('a{i}.pt'))\n"),
    "states that the module loads": (
        150,
        "import torch\n",
        lambda i: f"m{i}.load_state_dict(torch.load('a{i}.pt'))\n",
    ),
    "functions that return what two others return": (
        50,
        "import torch\n\n",
        lambda i: f"def f{i}(x):\n    return [f{i + 1}(x), f{i + 2}(x), torch.zeros({i})]\n",
    ),
    "asserts": (
        150,
        _IN_FUNCTION,
        lambda i: f"    assert x.is_cuda, {i}\n    y{i} = x + torch.zeros({i})\n",
    ),
    "classes with many layers": (
        60,
        "import torch\nfrom torch import nn\n\n",
        lambda i: (
            f"class W{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            f"        self.a = nn.Linear(3, {i})\n        self.b = nn.Linear({i}, 3)\n"
            "    def forward(self, x):\n        return self.b(self.a(x)) + torch.zeros(3)\n"
        ),
    ),
    "loaders": (
        60,
        _IN_FUNCTION + "    from torch.utils.data import DataLoader\n",
        lambda i: f"    l{i} = DataLoader(a, batch_size=4)\n    for x in l{i}:\n        y{i} = x.cuda()\n",
    ),
    "values that may be another": (100, _IN_FUNCTION, lambda i: f"    y{i} = a and x or torch.zeros({i})\n"),
    "classes that inherit from each other": (
        50,
        "import torch\nfrom torch import nn\n\nclass M0(nn.Module):\n    pass\n",
        lambda i: f"class M{i + 1}(M{i}):\n    def m{i}(self, x):\n        return x + torch.zeros({i})\n",
    ),
    "calls of one function": (
        100,
        "import torch\n\ndef f(x, y):\n    return x + y.cuda()\n",
        lambda i: f"y{i} = f(torch.zeros({i}), torch.ones({i}))\n",
    ),
    "assertions about the machine": (
        100,
        _IN_FUNCTION,
        lambda i: f"    assert x.shape[0] == {i} and torch.cuda.is_available()\n    x = x.cuda()\n",
    ),
    "files that are opened": (
        60,
        _IN_FUNCTION,
        lambda i: f"    with open('a{i}') as h:\n        y{i} = torch.load(h)\n",
    ),
    "nested functions": (
        100,
        _IN_FUNCTION,
        lambda i: f"    def g{i}(y):\n        return y + torch.zeros({i})\n    x = g{i}(x)\n",
    ),
    "types of tensors": (
        100,
        _IN_FUNCTION,
        lambda i: f"    if isinstance(x, torch.cuda.FloatTensor):\n        y{i} = torch.zeros({i}) + x\n",
    ),
    "collectives": (
        100,
        "import torch\nimport torch.distributed as dist\n\ndef f(x):\n",
        lambda i: f"    y{i} = torch.zeros({i})\n    dist.all_reduce(y{i})\n",
    ),
}


def _calls(text: str) -> int:
    """Return how many functions are called while `text` is linted: of Python and of C, the same number on every machine."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        outcome = lint("x.py", text.encode(), Settings())
    finally:
        sys.setprofile(None)
    assert not outcome.problems
    return calls


@pytest.mark.parametrize("shape", SHAPES)
def test_a_longer_text_takes_about_as_much_longer(shape: str) -> None:
    """Four times the text: linear work shows as a ratio of 4, quadratic work as one of 16. Calls are counted, as times depend on what else runs."""
    count, head, part = SHAPES[shape]
    small, big = (head + "".join(map(part, range(number))) for number in (count // 2, 2 * count))
    lint("x.py", small.encode(), Settings())  # What is read once, as the stubs are, does not count.
    assert _calls(big) <= 8 * _calls(small)
