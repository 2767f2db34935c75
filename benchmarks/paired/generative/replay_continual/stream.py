import torch
from torch.utils.data import DataLoader, TensorDataset


def make_tasks(n_tasks, classes_per_task, n, dim, seed=0):
    g = torch.Generator().manual_seed(seed)
    centers = 1.5 * torch.randn(n_tasks * classes_per_task, dim, generator=g)
    for t in range(n_tasks):
        sets = []
        for size in (n, n // 2):
            y = torch.randint(t * classes_per_task, (t + 1) * classes_per_task, (size,), generator=g)
            x = centers[y] + torch.randn(size, dim, generator=g)
            sets.append(TensorDataset(x, y))
        yield t, DataLoader(sets[0], batch_size=16, shuffle=True), DataLoader(sets[1], batch_size=64)
