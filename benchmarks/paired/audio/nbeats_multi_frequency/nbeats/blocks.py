import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class Block(nn.Module, ABC):
    def __init__(self, backcast: int, horizon: int, width: int, theta_dim: int):
        super().__init__()
        self.backcast, self.horizon = backcast, horizon
        self.trunk = nn.Sequential(nn.Linear(backcast, width), nn.ReLU(),
                                   nn.Linear(width, width), nn.ReLU())
        self.theta = nn.Linear(width, theta_dim, bias=False)

    @abstractmethod
    def expand(self, theta: Tensor):
        """theta to (backcast, forecast)"""

    def forward(self, x: Tensor):
        return self.expand(self.theta(self.trunk(x)))


class GenericBlock(Block):
    def __init__(self, backcast, horizon, width):
        super().__init__(backcast, horizon, width, backcast + horizon)

    def expand(self, theta):
        return theta.split([self.backcast, self.horizon], dim=-1)


class _BasisBlock(Block):
    def __init__(self, backcast, horizon, width, basis: Tensor):
        super().__init__(backcast, horizon, width, basis.size(0))
        self.register_buffer("basis", basis, persistent=False)

    def expand(self, theta):
        return (theta @ self.basis).split([self.backcast, self.horizon], dim=-1)


class TrendBlock(_BasisBlock):
    def __init__(self, backcast, horizon, width, degree=2):
        t = torch.arange(-backcast, horizon) / (backcast + horizon)
        super().__init__(backcast, horizon, width, torch.stack([t ** d for d in range(degree + 1)]))


class SeasonalityBlock(_BasisBlock):
    def __init__(self, backcast, horizon, width, harmonics=4):
        t = 2 * math.pi * torch.arange(-backcast, horizon) / horizon
        k = torch.arange(1, harmonics + 1).unsqueeze(1)
        super().__init__(backcast, horizon, width, torch.cat([torch.cos(k * t), torch.sin(k * t)]))
