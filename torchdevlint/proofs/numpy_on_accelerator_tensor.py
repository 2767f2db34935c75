"""TDL509: NumPy cannot read a GPU's memory."""

import torch

CODE = "TDL509"
SHAPES = ("1",)
EXPECT = r"can't convert cuda:0 device type tensor to numpy"


def fault() -> None:
    x = torch.ones(2).to("cuda")
    x.numpy()


def repair() -> str:
    x = torch.ones(2).to("cuda")
    return f"values {x.cpu().numpy().tolist()}"
