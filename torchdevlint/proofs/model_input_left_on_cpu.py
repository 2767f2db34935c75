"""TDL401: the model is on the GPU, its input is not."""

import torch
from torch import nn

CODE = "TDL401"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    model = nn.Embedding(10, 4).to("cuda")
    tokens = torch.tensor([[1, 2, 3]])
    model(tokens)


def repair() -> str:
    model = nn.Embedding(10, 4).to("cuda")
    tokens = torch.tensor([[1, 2, 3]])
    return f"the output is on {model(tokens.to('cuda')).device}"
