import math

import torch
from torch.utils.data import DataLoader, TensorDataset


def synthetic_load(days, seed):
    """Hourly load: daily and weekly cycle, slow drift, noise."""
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(24 * days, dtype=torch.float32)
    y = 1.0 + 0.4 * torch.sin(2 * math.pi * t / 24) + 0.15 * torch.sin(2 * math.pi * t / 168)
    return y + 0.05 * torch.randn(t.shape, generator=g) + 1e-4 * t


def windows(series, history, horizon, stride):
    w = series.unfold(0, history + horizon, stride)
    return TensorDataset(w[:, :history, None], w[:, history:])


def loaders(history=24, horizon=6, batch_size=32, seed=0):
    train = windows(synthetic_load(14, seed), history, horizon, 2)
    valid = windows(synthetic_load(7, seed + 1), history, horizon, 6)
    return (DataLoader(train, batch_size, shuffle=True, drop_last=True), DataLoader(valid, batch_size))
