import torch
from torch.utils.data import Dataset


class XorBands(Dataset):
    """Two-class problem with a rare, hard region; returns the row number as well."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(n, 2, generator=g) * 2 - 1
        y = (self.x[:, 0] * self.x[:, 1] > 0)
        rare = (self.x.norm(dim=1) < 0.35)
        self.y = (y ^ rare).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i], i
