import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset


def make_panel(n_series=8, days=90, seed=0):
    rng = np.random.default_rng(seed)
    index = pd.date_range("2023-01-01", periods=days, freq="D")
    base = rng.uniform(20, 200, size=n_series)
    weekly = rng.uniform(0.1, 0.4, size=(n_series, 7))
    y = base[:, None] * (1 + weekly[:, index.dayofweek]) * (1 + 0.05 * rng.standard_normal((n_series, days)))
    calendar = np.stack([np.sin(2 * np.pi * index.dayofweek / 7), np.cos(2 * np.pi * index.dayofweek / 7),
                         (index.day == 1).astype(float)], axis=1)
    return torch.tensor(y, dtype=torch.float32), torch.tensor(calendar, dtype=torch.float32)


class DemandWindows(Dataset):
    def __init__(self, panel, calendar, past, horizon, first, last):
        self.panel, self.calendar = panel, calendar
        self.past, self.horizon = past, horizon
        self.index = [(s, t) for s in range(len(panel)) for t in range(first, last - past - horizon + 1, 3)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        s, t = self.index[i]
        mid, end = t + self.past, t + self.past + self.horizon
        return {"series": s, "past_y": self.panel[s, t:mid], "past_x": self.calendar[t:mid],
                "future_x": self.calendar[mid:end], "target": self.panel[s, mid:end]}


class DemandData:
    def __init__(self, past=14, horizon=5, batch_size=16):
        self.past, self.horizon, self.batch_size = past, horizon, batch_size
        self.panel, self.calendar = make_panel()
        self.cuts = {"train": (0, 60), "val": (40, 75), "test": (56, 90)}

    @property
    def n_series(self):
        return len(self.panel)

    @property
    def train_panel(self):
        return self.panel[:, :self.cuts["train"][1]]

    def loader(self, split):
        ds = DemandWindows(self.panel, self.calendar, self.past, self.horizon, *self.cuts[split])
        return DataLoader(ds, self.batch_size, shuffle=split == "train")
