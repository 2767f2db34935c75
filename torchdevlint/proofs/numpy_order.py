"""TDL510: an array has no `.cpu()`: the copy comes first."""

import torch

CODE = "TDL510"
SHAPES = ("1", "cpu")
EXPECT = r"'numpy.ndarray' object has no attribute 'cpu'"


def fault() -> None:
    x = torch.ones(2)
    x.numpy().cpu()


def repair() -> str:
    x = torch.ones(2)
    return f"values {x.cpu().numpy().tolist()}"
