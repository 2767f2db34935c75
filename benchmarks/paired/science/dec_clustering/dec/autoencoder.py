from typing import Sequence

import torch
import torch.nn as nn


def _stack(dims: Sequence[int]) -> nn.Sequential:
    units = []
    for i, (a, b) in enumerate(zip(dims, dims[1:])):
        units.append(nn.Linear(a, b))
        if i < len(dims) - 2:
            units.append(nn.ReLU())
    return nn.Sequential(*units)


class AutoEncoder(nn.Module):
    def __init__(self, dims: Sequence[int]):
        super().__init__()
        self.encoder = _stack(dims)
        self.decoder = _stack(list(reversed(dims)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(x))
