"""TDL501: `x.to(...)` as a statement moves nothing."""

import torch
from torch import nn

CODE = "TDL501"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    model = nn.Linear(2, 2).to("cuda")
    x = torch.ones(1, 2)
    x.to("cuda")
    model(x)


def repair() -> str:
    model = nn.Linear(2, 2).to("cuda")
    x = torch.ones(1, 2)
    x = x.to("cuda")
    return f"the output is on {model(x).device}"
