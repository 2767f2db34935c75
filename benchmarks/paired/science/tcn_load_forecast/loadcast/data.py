import numpy as np
import pandas as pd
import torch
from torch.utils.data import Dataset


def build_frames(cfg):
    rng = np.random.default_rng(cfg.seed)
    idx = pd.date_range("2021-01-01", periods=cfg.data.hours, freq="h")
    hour = idx.hour.values
    temp = 8 + 6 * np.sin(2 * np.pi * (hour - 9) / 24) + rng.normal(0, 1, len(idx))
    load = (900 + 220 * np.sin(2 * np.pi * (hour - 7) / 24) - 60 * (idx.dayofweek.values >= 5)
            - 8 * temp + rng.normal(0, 20, len(idx)))
    df = pd.DataFrame({
        "load": load,
        "temperature": temp,
        "hour_sin": np.sin(2 * np.pi * hour / 24),
        "hour_cos": np.cos(2 * np.pi * hour / 24),
    }, index=idx)[list(cfg.data.columns)]
    cut = int(len(df) * 0.8)
    return df.iloc[:cut], df.iloc[cut:]


class StandardScaler:
    """Column-wise standardisation on tensors."""

    def __init__(self, mean=None, std=None):
        self.mean, self.std = mean, std

    def fit(self, values):
        self.mean = values.mean(dim=0)
        self.std = values.std(dim=0) + 1e-6
        return self

    def transform(self, x):
        return (x - self.mean) / self.std

    def inverse(self, x, column):
        return x * self.std[column] + self.mean[column]

    def to(self, device):
        return StandardScaler(self.mean.to(device), self.std.to(device))

    def state_dict(self):
        return {"mean": self.mean, "std": self.std}


class WindowDataset(Dataset):
    def __init__(self, df, context, horizon, stride, target):
        self.values = torch.tensor(df.values, dtype=torch.float32)
        self.context, self.horizon = context, horizon
        self.target = list(df.columns).index(target)
        self.starts = range(0, len(df) - context - horizon + 1, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        s = self.starts[i]
        past = self.values[s:s + self.context]
        future = self.values[s + self.context:s + self.context + self.horizon, self.target]
        return past, future
