"""TDL507: a device is never equal to a string, so the branch for the GPU is dead."""

import torch

CODE = "TDL507"
SHAPES = ("1",)
EXPECT = r"the GPU branch is taken: False"


def fault() -> str:
    x = torch.ones(1, device="cuda")
    return f"the GPU branch is taken: {x.device == 'cuda'}"


def repair() -> str:
    x = torch.ones(1, device="cuda")
    return f"the GPU branch is taken: {x.device.type == 'cuda'}"
