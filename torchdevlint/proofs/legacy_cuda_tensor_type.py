"""TDL511: `torch.cuda.FloatTensor` does not exist in a build without CUDA."""

import torch

CODE = "TDL511"
SHAPES = ("cpu",)
EXPECT = r"not available|not compiled with CUDA"


def fault() -> None:
    torch.cuda.FloatTensor([1.0, 2.0])


def repair() -> str:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return f"made on {torch.tensor([1.0, 2.0], device=device).device}"
