"""TDL522: a range as long as a GPU scalar says is made on the CPU."""

import torch

CODE = "TDL522"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    lengths = torch.tensor([3, 1], device="cuda")
    steps = torch.arange(lengths.max())
    steps < lengths[:, None]


def repair() -> str:
    lengths = torch.tensor([3, 1], device="cuda")
    steps = torch.arange(lengths.max(), device=lengths.device)
    return f"the mask is on {(steps < lengths[:, None]).device}"
