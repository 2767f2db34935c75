"""TDL811: a second GPU, asked for on a machine with one."""

import torch

CODE = "TDL811"
SHAPES = ("1",)
EXPECT = r"invalid device ordinal"


def fault() -> None:
    torch.ones(2).to("cuda:1")


def repair() -> str:
    return f"moved to {torch.ones(2).to('cuda:0').device}"
