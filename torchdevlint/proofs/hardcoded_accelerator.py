"""TDL801: a GPU by name, on machines without one."""

import torch

CODE = "TDL801"
SHAPES = ("cpu", "no-driver", "hidden")
EXPECT = r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs"


def fault() -> None:
    torch.ones(2).cuda()


def repair() -> str:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return f"moved to {torch.ones(2).to(device).device}"
