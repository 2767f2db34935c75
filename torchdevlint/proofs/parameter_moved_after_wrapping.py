"""TDL601: a Parameter that is moved is no Parameter any more, and nobody trains it."""

import torch
from torch import nn

CODE = "TDL601"
SHAPES = ("1",)
EXPECT = r"registered parameters: 0"


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3)).to("cuda")


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3).to("cuda"))


def fault() -> str:
    return f"registered parameters: {len(list(Faulty().parameters()))}"


def repair() -> str:
    return f"registered parameters: {len(list(Repaired().parameters()))}"
