"""TDL605: `.cuda()` in `forward`, on a machine without GPU and on the second GPU."""

import torch
from torch import nn

CODE = "TDL605"
SHAPES = ("cpu", "no-driver", "hidden", "2")
EXPECT = r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs|same device"


class Faulty(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(x.shape).cuda()


class Repaired(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(x.shape, device=x.device)


DEVICE = "cuda:1" if torch.cuda.is_available() else "cpu"


def fault() -> None:
    Faulty()(torch.ones(2, device=DEVICE))


def repair() -> str:
    return f"the output is on {Repaired()(torch.ones(2, device=DEVICE)).device}"
