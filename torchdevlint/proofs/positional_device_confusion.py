"""TDL519: `torch.zeros(2, 3, "cuda")` takes the device for a size."""

import torch

CODE = "TDL519"
SHAPES = ("1",)
EXPECT = r"TypeError"


def fault() -> None:
    torch.zeros(2, 3, "cuda")


def repair() -> str:
    return f"made on {torch.zeros(2, 3, device='cuda').device}"
