import logging
from contextlib import contextmanager

import torch
import torch.nn.functional as F

from .similarity import METRICS

log = logging.getLogger(__name__)


class AffineRegistration:
    def __init__(self, metric="ncc", steps=50, lr=0.02, callbacks=()):
        self.metric = METRICS[metric]
        self.steps = steps
        self.lr = lr
        self.callbacks = list(callbacks)
        self.device = torch.device("cpu")
        self.theta = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], requires_grad=True)
        self._configure()

    def _configure(self):
        self.optimizer = torch.optim.Adam([self.theta], lr=self.lr)

    def _move(self, device):
        device = torch.device(device)
        if device != self.device:
            self.theta = self.theta.detach().to(device).requires_grad_()
            self.device = device
            self._configure()

    @contextmanager
    def on(self, device):
        """Work on another device, the parameters come home afterwards."""
        home = self.device
        self._move(device)
        try:
            yield self
        finally:
            self._move(home)

    def warp(self, image):
        grid = F.affine_grid(self.theta[None], image.shape, align_corners=False)
        return F.grid_sample(image, grid, align_corners=False, padding_mode="border")

    def step(self, fixed, moving):
        self.optimizer.zero_grad()
        loss = self.metric(self.warp(moving), fixed)
        # keep away from foldings
        loss = loss + 1e-2 * (torch.linalg.det(self.theta[:, :2]) - 1) ** 2
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, pyramid):
        for scale, fixed, moving in pyramid:
            fixed, moving = fixed.to(self.device), moving.to(self.device)
            for cb in self.callbacks:
                cb.on_level(self, scale)
            for n in range(self.steps):
                loss = self.step(fixed, moving)
                if any([cb.on_step(self, loss) for cb in self.callbacks]):
                    break
            log.debug("level 1/%d: %d steps, loss %.4f", scale, n + 1, loss)
        return self.theta.detach().cpu()
