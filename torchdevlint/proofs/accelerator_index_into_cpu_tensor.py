"""TDL506: a table on the CPU, indexed by labels on the GPU."""

import torch

CODE = "TDL506"
SHAPES = ("1",)
EXPECT = r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"


def fault() -> None:
    table = torch.eye(3)
    labels = torch.tensor([0, 2], device="cuda")
    table[labels]


def repair() -> str:
    table = torch.eye(3)
    labels = torch.tensor([0, 2], device="cuda")
    return f"rows {table[labels.cpu()].argmax(1).tolist()}"
