"""TDL702: only host memory can be pinned."""

import torch

CODE = "TDL702"
SHAPES = ("1",)
EXPECT = r"cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"


def fault() -> None:
    torch.ones(2).to("cuda").pin_memory()


def repair() -> str:
    return f"pinned: {torch.ones(2).pin_memory().is_pinned()}"
