"""TDL301: class weights that stay on the CPU inside a loss."""

import torch
from torch import nn

CODE = "TDL301"
SHAPES = ("1",)
EXPECT = r"all tensors to be on the same device"


def fault() -> str:
    logits, target = torch.zeros(4, 2, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]))
    return f"loss {criterion(logits, target).item():.2f}"


def repair() -> str:
    logits, target = torch.zeros(4, 2, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0])).to("cuda")
    return f"loss {criterion(logits, target).item():.2f}"
