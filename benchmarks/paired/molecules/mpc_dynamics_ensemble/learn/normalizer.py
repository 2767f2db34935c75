import numpy as np
import torch


class RunningNormalizer:
    """Welford statistics; fed from the NumPy side of the control loop, used on the torch side."""

    def __init__(self, dim, device):
        self.device = device
        self.count = 0
        self.mean = np.zeros(dim, dtype=np.float32)
        self.m2 = np.zeros(dim, dtype=np.float32)
        self.std = np.ones(dim, dtype=np.float32)

    def update(self, rows):
        for x in np.atleast_2d(rows):
            self.count += 1
            delta = x - self.mean
            self.mean += delta / self.count
            self.m2 += delta * (x - self.mean)
        if self.count > 1:
            np.sqrt(self.m2 / (self.count - 1) + 1e-6, out=self.std)

    def _stats(self):
        return (
            torch.from_numpy(self.mean).to(self.device),
            torch.from_numpy(self.std).to(self.device),
        )

    def normalize(self, x):
        mean, std = self._stats()
        return (x - mean) / std

    def denormalize(self, x):
        mean, std = self._stats()
        return x * std + mean
