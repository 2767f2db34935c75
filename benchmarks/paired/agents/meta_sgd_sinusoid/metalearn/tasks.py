import math

import torch
from torch.utils.data import DataLoader, Dataset


class SinusoidTasks(Dataset):
    """Every item is one task: (support_x, support_y), (query_x, query_y)."""

    def __init__(self, n_tasks, shots, queries, noise=0.02, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.amp = 0.5 + 4.0 * torch.rand(n_tasks, generator=g)
        self.phase = math.pi * torch.rand(n_tasks, generator=g)
        self.x = torch.rand(n_tasks, shots + queries, 1, generator=g) * 10 - 5
        self.noise = noise * torch.randn(n_tasks, shots + queries, 1, generator=g)
        self.shots = shots

    def __len__(self):
        return len(self.amp)

    def __getitem__(self, i):
        x = self.x[i]
        y = self.amp[i] * torch.sin(x + self.phase[i]) + self.noise[i]
        k = self.shots
        return {"support": (x[:k], y[:k]), "query": (x[k:], y[k:]), "amp": self.amp[i]}


def make_loaders(shots=5, queries=10, meta_batch=8, n_train=64, n_val=24):
    train = SinusoidTasks(n_train, shots, queries, seed=0)
    val = SinusoidTasks(n_val, shots, queries, seed=1)
    return (DataLoader(train, batch_size=meta_batch, shuffle=True),
            DataLoader(val, batch_size=meta_batch))


def to_device(obj, device):
    if torch.is_tensor(obj):
        return obj.to(device)
    if isinstance(obj, (list, tuple)):
        return type(obj)(to_device(o, device) for o in obj)
    if isinstance(obj, dict):
        return {k: to_device(v, device) for k, v in obj.items()}
    return obj
