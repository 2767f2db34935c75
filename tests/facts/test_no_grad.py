"""What is computed under `torch.no_grad()` requires no gradient, wherever it is read."""

from __future__ import annotations

import pytest

from torchdevlint import check_source

PROGRAM = """
import torch
from torch import nn

net = nn.Linear(3, 3)
for x in [torch.ones(3)]:
    net(x).sum().backward()
{lines}
    print(shown.numpy())
"""


@pytest.mark.parametrize(
    ("lines", "is_told"),
    [
        ("    shown = net(x)", True),
        ("    with torch.no_grad():\n        shown = net(x)", False),
        ("    with torch.inference_mode():\n        shown = net(x)", False),
        ("    with torch.enable_grad():\n        shown = net(x)", True),
        ("    with torch.no_grad():\n        x = x * 2\n    shown = net(x)", True),
    ],
)
def test_the_output_of_a_module_requires_grad_where_gradients_are_on(lines: str, is_told: bool) -> None:
    assert ("TDL510" in {one.code for one in check_source(PROGRAM.format(lines=lines))}) is is_told
