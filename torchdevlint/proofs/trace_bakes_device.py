"""TDL610: a trace keeps the device of a factory as a constant."""

import torch
from torch import nn

CODE = "TDL610"
SHAPES = ("cpu",)
EXPECT = r"constants in the graph: cpu"


class Faulty(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.zeros(3, device=x.device)


class Repaired(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x.new_zeros(3)


def devices(module: nn.Module) -> str:
    graph = str(torch.jit.trace(module, torch.ones(3)).graph)
    factory = [line for line in graph.splitlines() if "aten::zeros" in line]
    named = "cpu" if factory and 'value="cpu"' in graph else "none"
    return f"constants in the graph: {named}"


def fault() -> str:
    return devices(Faulty())


def repair() -> str:
    return devices(Repaired())
