"""TDL503: a tensor that is filled on the host and then copied."""

import torch

CODE = "TDL503"
SHAPES = ("1",)
EXPECT = r"host to device: 1,"
LEDGER = True


def fault() -> None:
    torch.zeros(256).to("cuda")


def repair() -> None:
    torch.zeros(256, device="cuda")
