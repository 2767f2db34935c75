import logging
import math

import torch
from torch.utils.data import DataLoader, Subset

from models.dcgru import DCRNN
from utils.graph import diffusion_supports, gaussian_adjacency
from utils.metrics import HorizonMetrics, masked_mae
from utils.traffic import StandardScaler, WindowDataset, synthetic_sensors

logger = logging.getLogger("supervisor")


class Supervisor:
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        frame, dist = synthetic_sensors(**cfg["sensors"])
        cut = int(0.75 * len(frame))
        self.scaler = StandardScaler(frame.to_numpy()[:cut])

        h, q = cfg["history"], cfg["horizon"]
        train = WindowDataset(frame.iloc[:cut], self.scaler, h, q)
        if cfg.get("max_windows"):
            train = Subset(train, range(0, len(train), max(1, len(train) // cfg["max_windows"])))
        self.train_loader = DataLoader(train, cfg["batch_size"], shuffle=True, pin_memory=self.device.type == "cuda")
        self.val_loader = DataLoader(WindowDataset(frame.iloc[cut:], self.scaler, h, q), cfg["batch_size"])

        self.supports = diffusion_supports(gaussian_adjacency(dist), cfg["diffusion_order"])
        self.model = DCRNN(2, cfg["hidden"], q, len(self.supports))
        self._to_device()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"], eps=1e-3)
        self.batches_seen = 0

    def _to_device(self):
        self.model.to(self.device)
        self.supports = [s.to(self.device) for s in self.supports]
        logger.info("%d parameters, %d supports", sum(p.numel() for p in self.model.parameters()), len(self.supports))

    def teacher_ratio(self):
        k = self.cfg["decay"]
        return k / (k + math.exp(self.batches_seen / k))

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            x, y = x.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
            pred = self.model(x, self.supports, self.scaler.transform(y), self.teacher_ratio())
            loss = masked_mae(self.scaler.inverse(pred), y)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            self.batches_seen += 1
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        metrics = HorizonMetrics(self.cfg["horizon"])
        for x, y in self.val_loader:
            pred = self.model(x.to(self.device), self.supports)
            metrics.update(self.scaler.inverse(pred), y)
        return metrics.compute()

    def train(self):
        for epoch in range(self.cfg["epochs"]):
            loss = self.train_epoch()
            mae, rmse = self.evaluate()
            logger.info("epoch %d: train mae %.2f, val mae %s, rmse %s", epoch, loss,
                        " ".join(f"{m:.2f}" for m in mae), " ".join(f"{r:.2f}" for r in rmse))
