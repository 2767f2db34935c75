"""TDL402: a dictionary has no `.to`."""

import torch

CODE = "TDL402"
SHAPES = ("1", "cpu")
EXPECT = r"'dict' object has no attribute 'to'"


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def fault() -> None:
    batch = {"x": torch.ones(2), "y": torch.zeros(2)}
    batch = batch.to(DEVICE)


def repair() -> str:
    batch = {"x": torch.ones(2), "y": torch.zeros(2)}
    batch = {key: value.to(DEVICE) for key, value in batch.items()}
    return f"the batch is on {batch['x'].device.type}"
