from abc import ABC, abstractmethod

import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module, ABC):
    """Encodes raw features to a unit vector."""

    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(in_dim, 2 * out_dim), nn.ReLU(), nn.Linear(2 * out_dim, out_dim))

    @property
    def device(self):
        return next(self.parameters()).device

    @abstractmethod
    def features(self, *inputs):
        ...

    def forward(self, *inputs):
        return F.normalize(self.mlp(self.features(*inputs)), dim=-1)
