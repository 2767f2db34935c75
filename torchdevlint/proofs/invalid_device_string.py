"""TDL512: there is no device called `gpu`."""

import torch

CODE = "TDL512"
SHAPES = ("1", "cpu")
EXPECT = r"device type at start of device string: gpu"


def fault() -> None:
    torch.device("gpu")


def repair() -> str:
    return f"device {torch.device('cuda')}"
