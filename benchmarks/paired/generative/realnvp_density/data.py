from dataclasses import dataclass

import numpy as np
import torch


@dataclass
class Scaler:
    mean: np.ndarray
    std: np.ndarray

    @classmethod
    def fit(cls, x):
        return cls(x.mean(0), x.std(0))

    def transform(self, x):
        return (x - self.mean) / self.std

    def inverse_transform(self, x):
        return x * self.std + self.mean


def load_moons(n, seed=0):
    """Two moons in the first two columns, correlated nuisance columns after them."""
    rng = np.random.default_rng(seed)
    t = np.pi * rng.random(n)
    upper = rng.random(n) < 0.5
    x = np.where(upper, np.cos(t), 1 - np.cos(t))
    y = np.where(upper, np.sin(t), 0.5 - np.sin(t))
    xy = np.stack([x, y], axis=1) + 0.05 * rng.normal(size=(n, 2))
    extra = xy @ rng.normal(size=(2, 2)) + 0.3 * rng.normal(size=(n, 2))
    full = np.concatenate([xy, extra], axis=1)
    scaler = Scaler.fit(full)
    return torch.as_tensor(scaler.transform(full), dtype=torch.float32), scaler


def minibatches(x, size, generator=None):
    order = torch.randperm(len(x), generator=generator)
    for chunk in order.split(size):
        yield x[chunk]
