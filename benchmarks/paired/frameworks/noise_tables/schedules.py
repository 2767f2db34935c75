"""Noise schedules as data classes: a base table and tables that follow from it."""
from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field, fields

import torch

SCHEDULES = {}


def schedule(name):
    def add(fn):
        SCHEDULES[name] = fn
        return fn
    return add


@schedule("linear")
def linear(steps, low=1e-4, high=2e-2):
    return torch.linspace(low, high, steps) * (1000 / steps) ** 0.5


@schedule("cosine")
def cosine(steps, offset=8e-3):
    t = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    bar = torch.cos((t + offset) / (1 + offset) * math.pi / 2) ** 2
    return (1 - bar[1:] / bar[:-1]).clamp(max=0.999).float()


@dataclass
class NoiseTables:
    betas: torch.Tensor
    kind: str = "custom"
    signal: torch.Tensor = field(init=False, repr=False)
    sigma: torch.Tensor = field(init=False, repr=False)
    posterior_var: torch.Tensor = field(init=False, repr=False)

    def __post_init__(self):
        alphas = 1 - self.betas
        bar = alphas.cumprod(0)
        before = torch.cat([bar.new_ones(1), bar[:-1]])
        self.signal = bar.sqrt()
        self.sigma = (1 - bar).sqrt()
        self.posterior_var = self.betas * (1 - before) / (1 - bar)

    @classmethod
    def named(cls, kind, steps, **options):
        return cls(SCHEDULES[kind](steps, **options), kind)

    @property
    def steps(self):
        return len(self.betas)

    def to(self, device):
        out = copy.copy(self)
        for f in fields(self):
            value = getattr(self, f.name)
            if torch.is_tensor(value):
                setattr(out, f.name, value.to(device))
        return out

    def plan(self, count):
        """count evenly spread steps, from noisy to clean, as Python ints."""
        return torch.linspace(self.steps - 1, 0, count).round().long().tolist()


def rows(table, t, like):
    """table[t], shaped so that it can be multiplied with like."""
    return table[t].view(-1, *[1] * (like.ndim - 1))
