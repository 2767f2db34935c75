import math

import numpy as np
import torch
from torch.utils.data import Dataset


def make_panel(n_series, length, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    level = rng.lognormal(2.0, 0.8, size=(n_series, 1))
    season = 1 + 0.4 * np.sin(2 * math.pi * (t[None] + rng.integers(0, 7, (n_series, 1))) / 7)
    trend = 1 + rng.normal(0, 0.002, (n_series, 1)) * t[None]
    y = rng.poisson(np.clip(level * season * trend, 0.01, None)).astype(np.float32)
    cov = np.stack([np.sin(2 * math.pi * t / 7), np.cos(2 * math.pi * t / 7), t / length], -1).astype(np.float32)
    return y, cov


class WindowDataset(Dataset):
    def __init__(self, y, cov, context, horizon, stride=5):
        self.y, self.cov = torch.from_numpy(y), torch.from_numpy(cov)
        self.context, self.horizon = context, horizon
        span = context + horizon
        self.index = [(i, s) for i in range(len(y)) for s in range(0, y.shape[1] - span + 1, stride)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, k):
        i, s = self.index[k]
        e = s + self.context + self.horizon
        past = self.y[i, s:s + self.context]
        return {
            "target": self.y[i, s:e],
            "covariates": self.cov[s:e],
            "scale": 1.0 + past.mean(),
            "series": i,
        }
