"""TDL524: a mask that is multiplied into a copy of the weights."""

import torch
from torch import nn

CODE = "TDL524"
SHAPES = ("1",)
EXPECT = r"weights that are zero: 0 of 4"


def fault() -> str:
    layer = nn.Linear(2, 2).to("cuda")
    layer.weight.data.cpu().mul_(torch.zeros(2, 2))
    return f"weights that are zero: {int((layer.weight == 0).sum())} of 4"


def repair() -> str:
    layer = nn.Linear(2, 2).to("cuda")
    layer.weight.data.mul_(torch.zeros(2, 2, device="cuda"))
    return f"weights that are zero: {int((layer.weight == 0).sum())} of 4"
