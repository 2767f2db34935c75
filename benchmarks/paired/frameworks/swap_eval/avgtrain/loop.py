"""Mixins from which a trainer is put together (leftmost first)."""
import time

import torch

from .swa import WeightSwapper


class LoopMixin:
    clip = 1.0

    def setup(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.cfg["lr"], momentum=0.9)

    def train_epoch(self, loader):
        self.model.train()
        total, n = 0.0, 0
        for batch in loader:
            batch = [b.to(self.device) for b in batch]
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()
            total, n = total + loss.item(), n + 1
        return total / n

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        return torch.stack([self.loss([b.to(self.device) for b in batch]).cpu()
                            for batch in loader]).mean().item()

    def epoch_end(self, epoch, report):
        pass

    def fit(self, train, val, epochs):
        self.setup()
        for epoch in range(epochs):
            report = {"train": self.train_epoch(train), "val": self.validate(val)}
            self.val_loader = val
            self.epoch_end(epoch, report)
        return report


class SwaMixin:
    """From cfg["swa_start"] on, also validates the averaged weights."""

    def setup(self):
        super().setup()
        self.swa = WeightSwapper(self.model)

    def epoch_end(self, epoch, report):
        if epoch >= self.cfg["swa_start"]:
            self.swa.collect()
            with self.swa.averaged():
                report["swa"] = self.validate(self.val_loader)
        super().epoch_end(epoch, report)


class LoggingMixin:
    def setup(self):
        super().setup()
        self.started = time.perf_counter()

    def epoch_end(self, epoch, report):
        super().epoch_end(epoch, report)
        text = "  ".join(f"{k} {v:.4f}" for k, v in report.items())
        print(f"[{time.perf_counter() - self.started:5.1f}s] epoch {epoch}: {text}")
