import math
from dataclasses import dataclass
from functools import cached_property

import torch


@dataclass
class CosineSchedule:
    steps: int = 50
    offset: float = 0.008

    @cached_property
    def alphas_bar(self):
        t = torch.linspace(0, 1, self.steps + 1, dtype=torch.float64)
        f = torch.cos((t + self.offset) / (1 + self.offset) * math.pi / 2) ** 2
        return (f / f[0]).clamp(1e-4, 0.9999).float()

    def at(self, t, ndim):
        """Values for a batch of integer times, on the device of those times."""
        values = self.alphas_bar.to(t.device)[t]
        return values.view(-1, *([1] * (ndim - 1)))

    def add_noise(self, x0, noise, t):
        a = self.at(t, x0.ndim)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    def ddim_step(self, xt, eps, t, t_next):
        a, a_next = self.at(t, xt.ndim), self.at(t_next, xt.ndim)
        x0 = ((xt - (1 - a).sqrt() * eps) / a.sqrt()).clamp(-1.5, 1.5)
        return a_next.sqrt() * x0 + (1 - a_next).sqrt() * eps
