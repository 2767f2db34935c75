"""Random channel effects, applied batch-wise where the batch is."""
import math
from dataclasses import dataclass, field
from typing import Callable

import torch

EFFECTS: dict[str, Callable] = {}


def effect(fn):
    EFFECTS[fn.__name__] = fn
    return fn


def seeded(seed: int, device="cpu") -> torch.Generator:
    return torch.Generator(device=device).manual_seed(seed)


@effect
def rotate(x, rng, most=math.pi):
    angle = most * (2 * torch.rand(len(x), 1, generator=rng, device=x.device) - 1)
    return x * torch.polar(torch.ones_like(angle), angle)


@effect
def drift(x, rng, most=2e-3):
    f = most * torch.randn(len(x), 1, generator=rng, device=x.device)
    t = torch.arange(x.shape[1], device=x.device)
    return x * torch.exp(2j * math.pi * f * t)


@effect
def noise(x, rng, snr_db=15.0):
    power = x.abs().square().mean(1, keepdim=True)
    sigma = (power * 10 ** (-snr_db / 10) / 2).sqrt()
    n = torch.randn(*x.shape, 2, generator=rng, device=x.device)
    return x + sigma * torch.view_as_complex(n)


@dataclass
class Channel:
    """A chain of effects with its own random stream."""

    steps: list[tuple[str, dict]]
    rng: torch.Generator
    applied: int = field(default=0, init=False)

    def __call__(self, x):
        for name, options in self.steps:
            x = EFFECTS[name](x, self.rng, **options)
        self.applied += len(x)
        return x
