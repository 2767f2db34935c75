"""TDL703: DataParallel over two GPUs wants its module on the first."""

import torch
from torch import nn

CODE = "TDL703"
SHAPES = ("2",)
EXPECT = r"module must have its parameters and buffers on device cuda:0"


def fault() -> None:
    model = nn.DataParallel(nn.Linear(2, 2))
    model(torch.ones(4, 2))


def repair() -> str:
    model = nn.DataParallel(nn.Linear(2, 2)).to("cuda")
    return f"the output is on {model(torch.ones(4, 2, device='cuda')).device}"
