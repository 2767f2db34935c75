"""TDL901: the host reads memory that a copy may still be writing."""

import torch

CODE = "TDL901"
SHAPES = ("1",)
EXPECT = r"hazard: .*reads a CPU tensor that a non_blocking copy"
RACE = True


def fault() -> str:
    x = torch.ones(3, device="cuda")
    y = x.to("cpu", non_blocking=True)
    return f"values {y.tolist()}"


def repair() -> str:
    x = torch.ones(3, device="cuda")
    y = x.to("cpu")
    return f"values {y.tolist()}"
