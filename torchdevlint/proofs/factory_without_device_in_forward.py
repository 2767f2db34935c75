"""TDL504: a tensor made in `forward` without a device meets the input."""

import torch
from torch import nn

CODE = "TDL504"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


class Faulty(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.ones(x.shape[0], 2)
        return x + noise


class Repaired(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noise = torch.ones(x.shape[0], 2, device=x.device)
        return x + noise


def fault() -> None:
    Faulty()(torch.ones(3, 2, device="cuda"))


def repair() -> str:
    return f"the output is on {Repaired()(torch.ones(3, 2, device='cuda')).device}"
