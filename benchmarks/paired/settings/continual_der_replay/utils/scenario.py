import torch
from torch.utils.data import DataLoader, TensorDataset


class ClassIncremental:
    """num_tasks tasks of classes_per_task Gaussian blobs each."""

    def __init__(self, num_tasks=3, classes_per_task=2, dim=16, n=40, seed=0, batch_size=16):
        self.num_tasks, self.cpt, self.dim = num_tasks, classes_per_task, dim
        self.num_classes = num_tasks * classes_per_task
        self.batch_size = batch_size
        g = torch.Generator().manual_seed(seed)
        self.centres = 2.0 * torch.randn(self.num_classes, dim, generator=g)
        self._g, self._n = g, n

    def _make(self, task, n):
        lo = task * self.cpt
        y = torch.randint(lo, lo + self.cpt, (n,), generator=self._g)
        x = self.centres[y] + torch.randn(n, self.dim, generator=self._g)
        return TensorDataset(x, y)

    def __iter__(self):
        for t in range(self.num_tasks):
            tr = DataLoader(self._make(t, self._n * self.cpt), batch_size=self.batch_size, shuffle=True)
            te = DataLoader(self._make(t, 20), batch_size=20)
            yield t, tr, te


def augment(x, sigma=0.1):
    """not_aug -> aug: gaussian jitter and random sign-preserving scale"""
    scale = 1 + 0.1 * torch.rand(x.size(0), 1, device=x.device)
    return x * scale + sigma * torch.randn_like(x)
