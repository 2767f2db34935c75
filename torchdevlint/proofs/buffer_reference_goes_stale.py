"""TDL604: a move replaces buffers, and a view that was taken before keeps the old memory."""

import torch
from torch import nn

CODE = "TDL604"
SHAPES = ("1",)
EXPECT = r"the view shares the buffer: False"


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(3))
        self.first = self.table[:1]


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(3))

    @property
    def first(self) -> torch.Tensor:
        return self.table[:1]


def fill(module: nn.Module) -> str:
    module.to("cuda")
    module.table.fill_(1)
    return f"the view shares the buffer: {module.first.item() == 1}"


def fault() -> str:
    return fill(Faulty())


def repair() -> str:
    return fill(Repaired())
