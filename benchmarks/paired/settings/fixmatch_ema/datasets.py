import torch
from torch.utils.data import Dataset


class Rings(Dataset):
    """Concentric noisy rings lifted to `dim` features; one ring per class."""

    def __init__(self, n, classes=3, dim=6, transform=None, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, classes, (n,), generator=g)
        ang = 6.2832 * torch.rand(n, generator=g)
        r = 1.0 + self.y.float() + 0.15 * torch.randn(n, generator=g)
        xy = torch.stack([r * ang.cos(), r * ang.sin()], 1)
        lift = torch.randn(2, dim - 2, generator=torch.Generator().manual_seed(99))
        self.x = torch.cat([xy, (xy @ lift).tanh()], 1)
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        if self.transform is None:
            return x, self.y[i]
        return self.transform(x), self.y[i]


class WeakStrong:
    def __init__(self, weak=0.02, strong=0.15, drop=0.2):
        self.weak, self.strong, self.drop = weak, strong, drop

    def __call__(self, x):
        w = x + self.weak * torch.randn_like(x)
        s = x + self.strong * torch.randn_like(x)
        s = s * (torch.rand_like(s) > self.drop)
        return w, s


def cycle(loader):
    while True:
        yield from loader
