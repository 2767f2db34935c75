"""TDL608: a device that is kept in `__init__` and does not follow the move."""

import torch
from torch import nn

CODE = "TDL608"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


class Faulty(nn.Module):
    def __init__(self, device: str = "cpu") -> None:
        super().__init__()
        self.device = device
        self.linear = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + torch.ones(2, device=self.device)


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + torch.ones(2, device=self.device)


def fault() -> None:
    Faulty().to("cuda")(torch.ones(1, 2, device="cuda"))


def repair() -> str:
    return f"the output is on {Repaired().to('cuda')(torch.ones(1, 2, device='cuda')).device}"
