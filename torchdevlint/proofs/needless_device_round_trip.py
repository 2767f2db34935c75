"""TDL905: a tensor that travels to the host and back."""

import torch

CODE = "TDL905"
SHAPES = ("1",)
EXPECT = r"device to host: 1,"
LEDGER = True


def fault() -> None:
    x = torch.ones(3, device="cuda")
    x.cpu().to("cuda")


def repair() -> None:
    x = torch.ones(3, device="cuda")
    x.to("cuda")
