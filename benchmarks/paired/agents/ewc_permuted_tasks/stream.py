import torch
from torch.utils.data import DataLoader, TensorDataset


def permuted_stream(n_tasks, dim=32, classes=5, n=160, batch_size=32, seed=0):
    """Gaussian blobs whose input dimensions are permuted for each task."""
    g = torch.Generator().manual_seed(seed)
    centers = torch.randn(classes, dim, generator=g) * 1.5
    for task_id in range(n_tasks):
        perm = torch.randperm(dim, generator=g)
        loaders = []
        for _ in range(2):
            y = torch.randint(0, classes, (n,), generator=g)
            x = centers[y] + torch.randn(n, dim, generator=g)
            loaders.append(DataLoader(TensorDataset(x[:, perm], y), batch_size=batch_size, shuffle=True))
        yield task_id, loaders[0], loaders[1]
