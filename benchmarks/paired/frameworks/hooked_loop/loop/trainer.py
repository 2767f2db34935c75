"""A small training loop that is extended through hooks."""
from __future__ import annotations

import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module, loss_fn, device: torch.device, lr: float = 1e-2):
        self.model = model.to(device)
        self.loss_fn = loss_fn
        self.device = device
        self.lr = lr
        self.hooks = []
        self.optimizer = None
        self.epoch = 0
        self.step = 0
        self.last_loss = None
        self.metrics = {}

    def add_hook(self, hook):
        """Hooks are attached at once and kept sorted by priority."""
        hook.attach(self)
        self.hooks.append(hook)
        self.hooks.sort(key=lambda h: h.priority)
        return self

    def _call(self, event: str):
        for hook in self.hooks:
            getattr(hook, event)(self)

    def _batch(self, batch):
        return tuple(t.to(self.device, non_blocking=True) for t in batch)

    def _make_optimizer(self):
        decay, no_decay = [], []
        for p in self.model.parameters():
            (decay if p.ndim > 1 else no_decay).append(p)
        return torch.optim.AdamW(
            [{"params": decay, "weight_decay": 1e-2}, {"params": no_decay, "weight_decay": 0.0}],
            lr=self.lr,
        )

    def fit(self, train_loader, val_loader, epochs: int):
        self.optimizer = self._make_optimizer()
        self._call("before_fit")
        for self.epoch in range(epochs):
            self.model.train()
            self._call("before_epoch")
            for batch in train_loader:
                x, y = self._batch(batch)
                loss = self.loss_fn(self.model(x), y)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.last_loss = loss.detach()
                self._call("before_update")
                self.optimizer.step()
                self.step += 1
                self._call("after_step")
            self.metrics = self.evaluate(val_loader)
            self._call("after_epoch")
        self._call("after_fit")
        return self.metrics

    @torch.no_grad()
    def evaluate(self, loader, model: nn.Module | None = None):
        model = model or self.model
        model.eval()
        seen = 0
        correct = torch.zeros((), dtype=torch.long)
        for batch in loader:
            x, y = self._batch(batch)
            correct += (model(x).argmax(dim=1) == y).sum().cpu()
            seen += y.numel()
        return {"accuracy": correct.item() / max(seen, 1)}
