from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Standardize:
    mean: torch.Tensor
    scale: torch.Tensor

    @classmethod
    def fit(cls, y, floor=1e-6):
        return cls(y.mean(0, keepdim=True), y.std(0, keepdim=True).clamp_min(floor))

    def __call__(self, y):
        return (y - self.mean) / self.scale

    def undo(self, mean, variance):
        return mean * self.scale + self.mean, variance * self.scale ** 2
