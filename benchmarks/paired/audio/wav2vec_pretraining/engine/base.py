import io
from abc import ABC, abstractmethod

import torch


class CheckpointMixin:
    """Keeps the last checkpoint in memory, to roll back after a diverged step."""

    def snapshot(self):
        buf = io.BytesIO()
        torch.save({"model": self.model.state_dict(), "optim": self.optimizer.state_dict(),
                    "sampler": self.loss_fn.sampler.state_dict()}, buf)
        self._snapshot = buf.getvalue()

    def rollback(self):
        state = torch.load(io.BytesIO(self._snapshot), map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optim"])
        self.loss_fn.sampler.load_state_dict(state["sampler"])


class BaseEngine(ABC):
    def __init__(self, model, optimizer, device):
        self.device = torch.device(device)
        self.model = model
        self.optimizer = optimizer
        self.step = 0

    @abstractmethod
    def training_step(self, batch):
        ...

    def on_step_end(self, metrics):
        pass

    def fit(self, loader, max_steps):
        self.model.train()
        while self.step < max_steps:
            for batch in loader:
                loss, metrics = self.training_step(batch.to(self.device))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.step += 1
                self.on_step_end({"loss": loss.item(), **metrics})
                if self.step >= max_steps:
                    return
