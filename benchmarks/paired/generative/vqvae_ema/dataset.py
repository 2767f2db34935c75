import math

import torch
from torch.utils.data import Dataset


class Gratings(Dataset):
    """Sinusoidal gratings with random orientation and frequency."""

    def __init__(self, n, size=16, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.theta = torch.rand(n, generator=g) * math.pi
        self.freq = 1 + 3 * torch.rand(n, generator=g)
        ax = torch.linspace(-1, 1, size)
        self.yy, self.xx = torch.meshgrid(ax, ax, indexing="ij")

    def __len__(self):
        return len(self.theta)

    def __getitem__(self, i):
        proj = self.xx * torch.cos(self.theta[i]) + self.yy * torch.sin(self.theta[i])
        return torch.sin(math.pi * self.freq[i] * proj).unsqueeze(0)
