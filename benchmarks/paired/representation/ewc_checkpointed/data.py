import torch
from torch.utils.data import DataLoader, TensorDataset


def permuted_tasks(n_tasks, n=256, dim=64, classes=5, batch_size=32):
    """Permuted-MNIST with made-up digits: the same blobs under a new permutation of pixels per task."""
    protos = torch.randn(classes, dim)
    for _ in range(n_tasks):
        perm = torch.randperm(dim)
        splits = []
        for size in (n, n // 4):
            y = torch.randint(classes, (size,))
            x = (protos[y] + torch.randn(size, dim))[:, perm]
            splits.append(TensorDataset(x, y))
        yield DataLoader(splits[0], batch_size, shuffle=True), DataLoader(splits[1], 64)
