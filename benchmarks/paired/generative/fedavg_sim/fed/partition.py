import numpy as np
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset


def synthetic(n, dim=12, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).normal(size=(classes, dim)) * 1.5
    y = rng.integers(0, classes, n)
    x = centers[y] + rng.normal(size=(n, dim))
    return TensorDataset(torch.from_numpy(x).float(), torch.from_numpy(y))


def dirichlet_split(labels, clients, alpha, seed=0):
    """Indices per client with label skew drawn from Dir(alpha)."""
    rng = np.random.default_rng(seed)
    parts = [[] for _ in range(clients)]
    for c in np.unique(labels):
        idx = rng.permutation(np.flatnonzero(labels == c))
        cuts = (np.cumsum(rng.dirichlet([alpha] * clients))[:-1] * len(idx)).astype(int)
        for part, chunk in zip(parts, np.split(idx, cuts)):
            part.extend(chunk.tolist())
    return parts


def client_loaders(dataset, clients, alpha, batch_size):
    labels = dataset.tensors[1].numpy()
    for part in dirichlet_split(labels, clients, alpha):
        if len(part) >= 2:
            yield DataLoader(Subset(dataset, part), batch_size=batch_size, shuffle=True)
