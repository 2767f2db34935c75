"""What is moved after it requires gradients is no leaf, and optimizers refuse it; where the move does nothing it still is one."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

HEAD = "import torch\nfrom torch import nn\n"


def lines(text: str) -> list[int]:
    """The lines of the findings of TDL601, counted behind the imports."""
    return [one.span.start.row - 2 for one in check_source(HEAD + text, "a.py") if one.code == "TDL601"]


@pytest.mark.parametrize(
    "made",
    [
        "nn.Parameter(torch.zeros(3))",
        "torch.zeros(3, requires_grad=True)",
        "torch.rand(3).requires_grad_()",
        "torch.rand(3).requires_grad_(True)",
    ],
)
def test_an_optimizer_is_given_a_leaf_that_was_moved(made: str) -> None:
    assert lines(f'x = {made}\ny = x.to("cuda")\noptimizer = torch.optim.Adam([y])\n') == [2]
    assert lines(f'x = {made}\ny = x.to("cpu")\noptimizer = torch.optim.Adam([y])\n') == []
    assert lines(f"x = {made}\noptimizer = torch.optim.Adam([x])\n") == []


@pytest.mark.parametrize(
    "moved",
    [
        "x.detach().cuda().requires_grad_()",
        "x.cuda().detach().requires_grad_()",
        "x.data.cuda().requires_grad_()",
        "nn.Parameter(x.cuda())",
        "x.cuda().detach()",
        "x.cuda().data",
        "x.cuda().detach_()",
    ],
)
def test_what_is_a_leaf_again_is_taken(moved: str) -> None:
    assert lines(f"x = torch.zeros(3, requires_grad=True)\ny = {moved}\noptimizer = torch.optim.Adam([y])\n") == []


def test_what_autograd_has_computed_is_made_no_leaf() -> None:
    text = "x = torch.zeros(3, requires_grad=True)\ny = x.cuda().requires_grad_()\noptimizer = torch.optim.Adam([y])\n"
    assert lines(text) == [2]


def test_what_is_no_leaf_on_the_cpu_either_is_left_to_pytorch() -> None:
    text = "x = torch.zeros(3, requires_grad=True).clone()\ny = x.cuda()\noptimizer = torch.optim.Adam([y])\n"
    assert lines(text) == []


def test_without_gradients_the_move_gives_a_leaf() -> None:
    text = "x = torch.zeros(3, requires_grad=True)\nwith torch.no_grad():\n    y = x.cuda()\noptimizer = torch.optim.Adam([y])\n"
    assert lines(text) == []


def test_it_is_told_at_the_move_where_others_hand_it_in() -> None:
    text = """\
class Fit:
    def __init__(self, x, device):
        self.x = x.to(device)
        self.optimizer = torch.optim.Adam([{"params": [self.x]}])

Fit(torch.zeros(3, requires_grad=%s), "cuda")
"""
    assert lines(text % "True") == [3]
    assert lines(text % "False") == []
