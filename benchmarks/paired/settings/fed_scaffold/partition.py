"""Synthetic image classification data, split over clients with a Dirichlet prior."""
import numpy as np
import torch
from torch.utils.data import Subset, TensorDataset


def make_dataset(n, num_classes=6, size=8, seed=0):
    rng = np.random.RandomState(1234)
    prototypes = rng.randn(num_classes, 1, size, size).astype("float32")
    rng = np.random.RandomState(seed)
    y = rng.randint(0, num_classes, size=n)
    x = prototypes[y] + 0.8 * rng.randn(n, 1, size, size).astype("float32")
    return TensorDataset(torch.from_numpy(x.astype("float32")), torch.from_numpy(y))


def dirichlet_split(dataset, num_clients, alpha, seed=0, min_size=4):
    labels = dataset.tensors[1].numpy()
    rng = np.random.RandomState(seed)
    while True:
        parts = [[] for _ in range(num_clients)]
        for c in np.unique(labels):
            idx = np.where(labels == c)[0]
            rng.shuffle(idx)
            props = rng.dirichlet([alpha] * num_clients)
            cuts = (np.cumsum(props)[:-1] * len(idx)).astype(int)
            for part, chunk in zip(parts, np.split(idx, cuts)):
                part.extend(chunk.tolist())
        if min(map(len, parts)) >= min_size:
            break
    return [Subset(dataset, p) for p in parts]
