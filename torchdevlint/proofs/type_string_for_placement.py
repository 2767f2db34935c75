"""TDL521: `.type("torch.cuda.FloatTensor")` moves to the current GPU, not to the GPU of the other tensor."""

import torch

CODE = "TDL521"
SHAPES = ("2",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    x = torch.ones(2, device="cuda:1")
    y = torch.zeros(2).type(x.type())
    x + y


def repair() -> str:
    x = torch.ones(2, device="cuda:1")
    y = torch.zeros(2).to(x)
    return f"the sum is on {(x + y).device}"
