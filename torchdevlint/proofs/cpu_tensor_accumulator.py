"""TDL515: a sum that is kept in a CPU tensor cannot take a loss from the GPU in place."""

import torch

CODE = "TDL515"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> None:
    total = torch.zeros(1)
    loss = torch.ones(1, device="cuda")
    total += loss


def repair() -> str:
    total = torch.zeros(1, device="cuda")
    loss = torch.ones(1, device="cuda")
    total += loss
    return f"total {total.item()}"
