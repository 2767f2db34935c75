"""The time that a file takes grows about as its size does: a text of twice the length takes twice the time, be the text unusual."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from torchdevlint.linter import Repair, lint
from torchdevlint.settings import Settings

_IN_FUNCTION = "import torch\n\ndef f(a, x):\n"
# Each shape with the number of its parts in the smaller of the two texts, and the text of part `i`.
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
    "collectives": (
        100,
        "import torch\nimport torch.distributed as dist\n\ndef f(x):\n",
        lambda i: f"    y{i} = torch.zeros({i})\n    dist.all_reduce(y{i})\n",
    ),
}


def _seconds(text: str, repair: Repair = Repair.NONE) -> float:
    """The shortest of three runs, as the machine may be busy."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        outcome = lint("x.py", text.encode(), Settings(), repair)
        taken.append(time.process_time() - started)
        assert not outcome.problems
    return min(taken)


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_takes_about_twice_the_time(shape: str) -> None:
    """Quadratic work shows as a ratio of 4; what is the same for each file makes small texts look better than they are."""
    count, head, part = SHAPES[shape]
    small, big = (head + "".join(map(part, range(number))) for number in (count, 2 * count))
    _seconds(small)
    assert _seconds(big) <= 3.2 * _seconds(small)
