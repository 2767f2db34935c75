"""What an abstract value must not claim, each beside the nearest case in which it may."""

from __future__ import annotations

import textwrap

import pytest

from torchdevlint import check_source

IMPORTS = """
import numpy as np
import torch
from torch import nn
"""

TOLD = {
    "the items of two displays are known": (
        "TDL402",
        """
        def pair(a, b):
            return [a] + [{"b": b}]

        def use(a, b):
            first, second = pair(a, b)
            return second.cpu()
        """,
    ),
    "the array that is split": (
        "TDL509",
        """
        def parts(values, device):
            values = values.to(device)
            return np.split(values + 1, 2)
        """,
    ),
    "a class of this file with weights below": (
        "TDL602",
        """
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool = nn.AvgPool1d(2)
                self.linear = nn.Linear(2, 2)

        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = [Inner() for _ in range(3)]

            def forward(self, x):
                return [part(x) for part in self.parts]
        """,
    ),
    "a class of this file that calls what it was given": (
        "TDL602",
        """
        class Residual(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return x + self.inner(x)

        class Outer(nn.Module):
            def __init__(self, make):
                super().__init__()
                self.parts = [Residual(make()) for _ in range(3)]

            def forward(self, x):
                return [part(x) for part in self.parts]
        """,
    ),
    "an element that is stored after its use": (
        "TDL603",
        """
        class Cells(nn.Module):
            def __init__(self, count):
                super().__init__()
                self.cell = nn.Linear(8, 8)
                self.hidden = [torch.zeros(1, 8)] * count

            def forward(self, x: torch.Tensor, level):
                hidden = self.cell(x) + self.hidden[level]
                self.hidden[level] = hidden
                return hidden
        """,
    ),
    "a row of a matrix": (
        "TDL603",
        """
        class Schedule:
            def __init__(self, steps):
                self.alphas = torch.zeros(steps, 3)

            def add_noise(self, sample: torch.Tensor, step):
                return sample.detach() * self.alphas[step]
        """,
    ),
    "a view of another shape": (
        "TDL504",
        """
        class Net(nn.Module):
            def forward(self, x: torch.Tensor, bits):
                return x.view(-1) + torch.tensor(bits).view(1)
        """,
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_certain_is_told(name: str) -> None:
    code, source = TOLD[name]
    found = check_source(IMPORTS + textwrap.dedent(source))
    assert code in {finding.code for finding in found}
