import torch
from torch.utils.data import Dataset


class EnergySeries(Dataset):
    """Windows of a random multivariate walk, target is its spread."""

    def __init__(self, n=96, tokens=8, features=6, seed=0):
        g = torch.Generator().manual_seed(seed)
        vol = 0.2 + torch.rand(n, 1, 1, generator=g)
        self.windows = (vol * torch.randn(n, tokens, features, generator=g)).cumsum(1)
        y = self.windows.std(dim=(1, 2))
        self.mean, self.std = y.mean(), y.std()
        self.y = (y - self.mean) / self.std

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.windows[i], self.y[i]

    def denormalise(self, pred):
        return pred * self.std + self.mean
