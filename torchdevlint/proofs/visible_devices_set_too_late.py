"""TDL809: CUDA reads its list of devices once."""

import os

import torch

CODE = "TDL809"
SHAPES = ("2",)
EXPECT = r"GPUs that the program sees: 2"


def fault() -> str:
    torch.zeros(1, device="cuda")
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
    return f"GPUs that the program sees: {torch.cuda.device_count()}"


def repair() -> str:
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
    torch.zeros(1, device="cuda")
    return f"GPUs that the program sees: {torch.cuda.device_count()}"
