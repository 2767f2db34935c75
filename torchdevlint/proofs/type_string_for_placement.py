"""TDL521: `.type(x.type())` moves to the current GPU, not to the GPU of `x`."""

import torch

CODE = "TDL521"
SHAPES = ("2",)
EXPECT = r"all tensors to be on the same device"


LAST = f"cuda:{torch.cuda.device_count() - 1}"


def fault() -> None:
    x = torch.ones(2, device=LAST)
    y = torch.zeros(2).type(x.type())
    x + y


def repair() -> str:
    x = torch.ones(2, device=LAST)
    y = torch.zeros(2).to(x)
    return f"the sum is on {(x + y).device}"
