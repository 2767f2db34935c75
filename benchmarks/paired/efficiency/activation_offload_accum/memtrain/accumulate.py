import logging
from collections import deque

import torch

logger = logging.getLogger(__name__)


class GradAccumulator:
    """Gradient accumulation, loss scaling and clipping in one place.

    The clipping bound follows the median norm of the last steps; the window of
    norms is plain floats."""

    def __init__(self, model, optimizer, scaler, every, window=8, slack=2.0):
        self.model = model
        self.optimizer = optimizer
        self.scaler = scaler
        self.every = every
        self.slack = slack
        self.norms = deque(maxlen=window)
        self.micro = 0
        self.updates = 0

    def bound(self):
        if len(self.norms) < 2:
            return float("inf")
        return self.slack * torch.tensor(list(self.norms)).median().item()

    def backward(self, loss):
        self.scaler.scale(loss / self.every).backward()
        self.micro += 1
        if self.micro % self.every == 0:
            self._update()
            return True
        return False

    def _update(self):
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.bound())
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        if torch.isfinite(norm):
            self.norms.append(norm.item())
            self.updates += 1
        else:
            logger.warning("skipped update, gradient norm %s", norm.item())

    def flush(self):
        if self.micro % self.every:
            self._update()
            self.micro = 0
