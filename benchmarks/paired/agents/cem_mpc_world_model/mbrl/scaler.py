from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class StandardScaler:
    mean: torch.Tensor
    std: torch.Tensor

    @classmethod
    def fit(cls, data: np.ndarray) -> StandardScaler:
        mean = data.mean(axis=0, keepdims=True)
        std = data.std(axis=0, keepdims=True)
        std[std < 1e-6] = 1.0
        return cls(torch.from_numpy(mean).float(), torch.from_numpy(std).float())

    def to(self, device) -> StandardScaler:
        return StandardScaler(self.mean.to(device), self.std.to(device))

    def normalize(self, x):
        return (x - self.mean) / self.std

    def denormalize(self, x):
        return x * self.std + self.mean
