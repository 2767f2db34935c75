"""TDL606: a layer that `forward` places again in every call: between two GPUs it is copied each time."""

import torch
from torch import nn

CODE = "TDL606"
SHAPES = ("2",)
EXPECT = r"copies between GPUs: 8,"
LEDGER = True


class Faulty(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.layer.to(x.device)
        return self.layer(x)


class Repaired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def run(first: nn.Module, second: nn.Module) -> None:
    """Two halves of the work, on a GPU each."""
    for _ in range(4):
        with torch.no_grad():
            first(torch.ones(3, device="cuda:0"))
            second(torch.ones(3, device="cuda:1"))


def fault() -> None:
    shared = Faulty().to("cuda:1")
    run(shared, shared)


def repair() -> None:
    run(Repaired().to("cuda:0"), Repaired().to("cuda:1"))
