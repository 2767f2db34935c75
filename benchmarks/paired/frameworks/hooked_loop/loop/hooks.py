from __future__ import annotations

import copy

import torch
from torch import nn


class Hook:
    priority = 50

    def attach(self, trainer): ...
    def before_fit(self, trainer): ...
    def before_epoch(self, trainer): ...
    def before_update(self, trainer): ...
    def after_step(self, trainer): ...
    def after_epoch(self, trainer): ...
    def after_fit(self, trainer): ...


class ClipGrad(Hook):
    priority = 10

    def __init__(self, max_norm: float):
        self.max_norm = max_norm
        self.norms = []

    def before_update(self, trainer):
        norm = nn.utils.clip_grad_norm_(trainer.model.parameters(), self.max_norm)
        self.norms.append(norm.item())


class LossLog(Hook):
    """Collects losses without synchronising; fetched once an epoch."""

    priority = 90

    def __init__(self):
        self._pending = []
        self.history = []

    def after_step(self, trainer):
        self._pending.append(trainer.last_loss)

    def after_epoch(self, trainer):
        losses = torch.stack(self._pending).cpu()
        self._pending.clear()
        self.history.append(losses.mean().item())
        acc = trainer.metrics["accuracy"]
        print(f"epoch {trainer.epoch}  loss {self.history[-1]:.4f}  acc {acc:.3f}")


class EmaHook(Hook):
    """Exponential moving average of the weights, and of the buffers by copy."""

    priority = 20

    def __init__(self, decay: float = 0.99, warmup: int = 5):
        self.decay = decay
        self.warmup = warmup
        self.shadow = None

    def attach(self, trainer):
        self.shadow = copy.deepcopy(trainer.model).eval()
        self.shadow.requires_grad_(False)

    @torch.no_grad()
    def after_step(self, trainer):
        rate = self.decay if trainer.step > self.warmup else 0.0
        targets = dict(trainer.model.named_parameters())
        for name, avg in self.shadow.named_parameters():
            avg.lerp_(targets[name].detach(), 1.0 - rate)
        for avg, live in zip(self.shadow.buffers(), trainer.model.buffers()):
            avg.copy_(live)


class BestKeeper(Hook):
    """Keeps the best weights in host memory and puts them back at the end."""

    priority = 80

    def __init__(self, key: str = "accuracy"):
        self.key = key
        self.best = float("-inf")
        self.state = None

    def after_epoch(self, trainer):
        value = trainer.metrics[self.key]
        if value > self.best:
            self.best = value
            self.state = {k: v.detach().to("cpu", copy=True)
                          for k, v in trainer.model.state_dict().items()}

    def after_fit(self, trainer):
        if self.state is not None:
            trainer.model.load_state_dict(self.state)
