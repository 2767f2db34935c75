import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from loadcast.config import resolve_device
from loadcast.data import StandardScaler, WindowDataset
from loadcast.models import TCN


def build_model(cfg):
    return TCN(len(cfg.data.columns), cfg.data.horizon, **cfg.model)


class Engine:
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = resolve_device(cfg.device)
        self.model = build_model(cfg).to(self.device)
        self.optim = torch.optim.Adam(self.model.parameters(), lr=cfg.train.lr)
        self.criterion = nn.L1Loss()

    def fit(self, df, ckpt_path):
        cfg = self.cfg
        ds = WindowDataset(df, cfg.data.context, cfg.data.horizon, cfg.data.stride, cfg.data.target)
        scaler = StandardScaler().fit(ds.values).to(self.device)
        loader = DataLoader(ds, batch_size=cfg.train.batch_size, shuffle=True)
        best = float("inf")
        for epoch in range(cfg.train.epochs):
            loss = self._epoch(loader, scaler, ds.target)
            print(f"epoch {epoch}: L1 {loss:.4f}")
            if loss < best:
                best = loss
                torch.save({
                    "model": self.model.state_dict(),
                    "scaler": scaler.state_dict(),
                    "cfg": dict(cfg),
                    "epoch": epoch,
                }, ckpt_path)

    def _epoch(self, loader, scaler, target):
        self.model.train()
        total = 0.0
        for past, future in loader:
            past, future = past.to(self.device), future.to(self.device)
            y = (future - scaler.mean[target]) / scaler.std[target]
            loss = self.criterion(self.model(scaler.transform(past)), y)
            self.optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.train.clip)
            self.optim.step()
            total += loss.item() * len(past)
        return total / len(loader.dataset)
