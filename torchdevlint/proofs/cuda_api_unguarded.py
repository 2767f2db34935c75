"""TDL807: a synchronisation with a GPU that does not exist."""

import torch

CODE = "TDL807"
SHAPES = ("cpu", "no-driver", "hidden")
EXPECT = r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs"


def fault() -> None:
    torch.cuda.synchronize()


def repair() -> str:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return "no synchronisation where there is no GPU"
