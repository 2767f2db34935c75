"""TDL508: a tensor's device has an index, `torch.device("cuda")` has none."""

import torch

CODE = "TDL508"
SHAPES = ("1",)
EXPECT = r"recognised as being there: False"


def fault() -> str:
    device = torch.device("cuda")
    x = torch.ones(1).to(device)
    return f"recognised as being there: {x.device == device}"


def repair() -> str:
    device = torch.device("cuda")
    x = torch.ones(1).to(device)
    return f"recognised as being there: {x.device.type == device.type}"
