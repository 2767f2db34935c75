"""TDL602: layers in a list do not move with their model."""

import torch
from torch import nn

CODE = "TDL602"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def fault() -> None:
    Faulty().to("cuda")(torch.ones(1, 2, device="cuda"))


def repair() -> str:
    return f"the output is on {Repaired().to('cuda')(torch.ones(1, 2, device='cuda')).device}"
