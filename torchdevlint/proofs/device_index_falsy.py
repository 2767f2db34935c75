"""TDL520: GPU 0 is a device, and 0 is false."""

import torch

CODE = "TDL520"
SHAPES = ("1",)
EXPECT = r"GPU 0 was asked for, cpu is used"


def fault() -> str:
    gpu = 0
    device = torch.device("cuda", gpu) if gpu else torch.device("cpu")
    return f"GPU {gpu} was asked for, {torch.ones(1, device=device).device} is used"


def repair() -> str:
    gpu = 0
    device = torch.device("cuda", gpu) if gpu is not None else torch.device("cpu")
    return f"GPU {gpu} was asked for, {torch.ones(1, device=device).device} is used"
