"""TDL502: `model.cuda` without parentheses leaves the model where it was."""

import torch
from torch import nn

CODE = "TDL502"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    model = nn.Linear(2, 2)
    model.cuda
    model(torch.ones(1, 2, device="cuda"))


def repair() -> str:
    model = nn.Linear(2, 2)
    model.cuda()
    return f"the output is on {model(torch.ones(1, 2, device='cuda')).device}"
