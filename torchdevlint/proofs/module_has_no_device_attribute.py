"""TDL607: a Module does not know its device."""

import torch
from torch import nn

CODE = "TDL607"
SHAPES = ("1", "cpu")
EXPECT = r"object has no attribute 'device'"


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + torch.arange(3, device=self.device)


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale + torch.arange(3, device=next(self.parameters()).device)


def fault() -> None:
    Faulty()(torch.ones(3))


def repair() -> str:
    return f"the output is on {Repaired()(torch.ones(3)).device}"
