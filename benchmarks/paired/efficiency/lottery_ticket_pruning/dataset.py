import math

import torch
from torch.utils.data import TensorDataset, random_split


def gratings(n=160, size=10, classes=4, noise=0.4, seed=0):
    """Oriented gratings; the label is the orientation."""
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (n,), generator=g)
    theta = labels.float() * math.pi / classes
    phase = torch.rand(n, generator=g) * 2 * math.pi
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    wave = (xx[None] * theta.cos()[:, None, None] + yy[None] * theta.sin()[:, None, None]) * 1.2
    imgs = torch.sin(wave + phase[:, None, None]) + noise * torch.randn(n, size, size, generator=g)
    full = TensorDataset(imgs.unsqueeze(1), labels)
    return random_split(full, [n - n // 4, n // 4], generator=g)
