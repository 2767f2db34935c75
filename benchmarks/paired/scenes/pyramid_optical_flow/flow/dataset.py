import math

import torch
from torch.utils.data import Dataset

from .warp import warp


class AffineTextures(Dataset):
    """Smooth textures, moved by small affine flows."""

    def __init__(self, n, size=24, max_shift=2.0, seed=0):
        g = torch.Generator().manual_seed(seed)
        axis = torch.linspace(-1, 1, size)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        self.items = []
        for _ in range(n):
            img = torch.zeros(size, size)
            for _ in range(5):
                fx, fy, ph = torch.rand(3, generator=g) * 8 - 4
                img += torch.sin(2 * math.pi * (fx * xx + fy * yy) / 2 + ph)
            img = img[None, None] / 5
            a = (torch.rand(2, 3, generator=g) - 0.5) * torch.tensor([1.0, 1.0, 2 * max_shift])
            flow = torch.stack([a[0, 0] * xx + a[0, 1] * yy + a[0, 2], a[1, 0] * xx + a[1, 1] * yy + a[1, 2]])
            self.items.append((warp(img, flow[None])[0], img[0], flow))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]
