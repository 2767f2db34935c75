"""TDL603: a tensor attribute that is no buffer stays behind when the module moves."""

import torch
from torch import nn

CODE = "TDL603"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.mean


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.mean


def fault() -> None:
    Faulty().to("cuda")(torch.ones(2, 3, device="cuda"))


def repair() -> str:
    return f"the output is on {Repaired().to('cuda')(torch.ones(2, 3, device='cuda')).device}"
