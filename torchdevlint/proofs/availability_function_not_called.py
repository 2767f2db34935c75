"""TDL802: a function that is not called is always true."""

import torch

CODE = "TDL802"
SHAPES = ("cpu", "no-driver", "hidden")
EXPECT = r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs"


def fault() -> None:
    device = "cuda" if torch.cuda.is_available else "cpu"
    torch.ones(2).to(device)


def repair() -> str:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return f"moved to {torch.ones(2).to(device).device}"
