import torch
from torch.utils.data import Dataset

from searchspace import DATASETS


@DATASETS.register("chirps")
class Chirps(Dataset):
    def __init__(self, size, length, classes, seed=0):
        rng = torch.Generator().manual_seed(seed)
        self.y = torch.arange(size) % classes
        t = torch.linspace(0, 1, length)
        speed = 3.0 + 2.5 * self.y.float().unsqueeze(1)
        phase = 6.28 * torch.rand(size, 1, generator=rng)
        self.x = torch.stack([torch.sin(speed * t ** 2 * 6 + phase), torch.cos(speed * t * 4 + phase)], 1)
        self.x += 0.1 * torch.randn(self.x.shape, generator=rng)

    def __len__(self):
        return self.x.size(0)

    def __getitem__(self, k):
        return self.x[k], self.y[k]
