import numpy as np
import pandas as pd
import torch
from torch.utils.data import Dataset


def synthetic_sensors(num_nodes=12, hours=72, seed=0):
    """5-minute-like speed readings with rush hours, spatial correlation and gaps (zeros)."""
    rng = np.random.default_rng(seed)
    xy = rng.random((num_nodes, 2))
    index = pd.date_range("2024-01-01", periods=hours * 4, freq="15min")
    hour = index.hour.to_numpy() + index.minute.to_numpy() / 60
    rush = np.exp(-((hour - 8) / 1.5) ** 2) + np.exp(-((hour - 17.5) / 2) ** 2)
    depth = 25 + 10 * xy[:, 0]
    speed = 65 - rush[:, None] * depth + rng.normal(scale=3, size=(len(index), num_nodes))
    speed[rng.random(speed.shape) < 0.05] = 0.0
    frame = pd.DataFrame(speed.clip(0, 80), index=index, columns=[f"s{i:02d}" for i in range(num_nodes)])
    dist = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    return frame, dist


def time_of_day(index):
    return ((index - index.normalize()) / pd.Timedelta(days=1)).to_numpy()


class StandardScaler:
    """Z-score of the non-missing readings; works on arrays and tensors."""

    def __init__(self, values):
        valid = values[values > 0]
        self.mean, self.std = float(valid.mean()), float(valid.std())

    def transform(self, x):
        return (x - self.mean) / self.std

    def inverse(self, x):
        return x * self.std + self.mean


class WindowDataset(Dataset):
    def __init__(self, frame, scaler, history, horizon):
        tod = np.repeat(time_of_day(frame.index)[:, None], frame.shape[1], axis=1)
        feats = np.stack([scaler.transform(frame.to_numpy()), tod], axis=-1)
        self.x = torch.from_numpy(feats).float()
        self.y = torch.from_numpy(frame.to_numpy()).float()
        self.history, self.horizon = history, horizon

    def __len__(self):
        return len(self.x) - self.history - self.horizon + 1

    def __getitem__(self, i):
        j = i + self.history
        return self.x[i:j], self.y[j:j + self.horizon]
