import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class NoisyLabels(Dataset):
    def __init__(self, n, noise, seed, classes=4, dim=12):
        rng = np.random.RandomState(seed)
        centers = np.random.RandomState(9).randn(classes, dim) * 1.1
        true = rng.randint(0, classes, n)
        self.x = (centers[true] + rng.randn(n, dim)).astype(np.float32)
        self.noisy = rng.rand(n) < noise
        shift = rng.randint(1, classes, n)
        self.y = np.where(self.noisy, (true + shift) % classes, true).astype(np.int64)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return i, torch.from_numpy(self.x[i]), int(self.y[i])


def get_loaders(batch_size):
    train = NoisyLabels(256, noise=0.4, seed=0)
    test = NoisyLabels(256, noise=0.0, seed=1)
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, 128)
