"""TDL505: a sum of a CPU tensor and a GPU tensor."""

import torch

CODE = "TDL505"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    host = torch.ones(3)
    device = torch.ones(3, device="cuda")
    host + device


def repair() -> str:
    host = torch.ones(3)
    device = torch.ones(3, device="cuda")
    return f"the sum is on {(host.to(device.device) + device).device}"
