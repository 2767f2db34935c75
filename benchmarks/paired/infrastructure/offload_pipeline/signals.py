import math

import torch


def noisy_tones(batch, length=32, noise=0.3, generator=None):
    t = torch.linspace(0, 1, length)
    f = 1 + 4 * torch.rand(batch, 1, 1, generator=generator)
    ph = 2 * math.pi * torch.rand(batch, 1, 1, generator=generator)
    clean = torch.sin(2 * math.pi * f * t + ph)
    return clean + noise * torch.randn(clean.shape, generator=generator), clean
