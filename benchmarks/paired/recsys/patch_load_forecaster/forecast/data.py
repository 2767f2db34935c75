import math

import torch
from torch.utils.data import DataLoader, TensorDataset


class LoadModule:
    """Hourly electricity load of a few substations, split into train / calibration / test days."""

    def __init__(self, stations=3, days=40, context=48, horizon=12, batch_size=32, seed=0):
        self.context, self.horizon, self.batch_size = context, horizon, batch_size
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(days * 24).float()
        shape = torch.sin(2 * math.pi * (t - 7) / 24) + 0.5 * torch.sin(4 * math.pi * t / 24)
        week = 1 - 0.25 * ((t // 24) % 7 >= 5).float()
        amp = 0.5 + torch.rand(stations, 1, generator=g)
        load = 5 + amp * shape * week + 0.15 * torch.randn(stations, len(t), generator=g)
        win = load.unfold(1, context + horizon, 6)           # (stations, n, L)
        n = win.size(1)
        a, b = int(0.7 * n), int(0.85 * n)
        self.parts = {"train": win[:, :a], "calib": win[:, a:b], "test": win[:, b:]}

    def _loader(self, part, **kw):
        w = self.parts[part].reshape(-1, self.context + self.horizon)
        return DataLoader(TensorDataset(w[:, :self.context], w[:, self.context:]), self.batch_size, **kw)

    def train_loader(self):
        return self._loader("train", shuffle=True, pin_memory=torch.cuda.is_available())

    def calib_loader(self):
        return self._loader("calib")

    def test_loader(self):
        return self._loader("test")
