from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


class SyntheticCorpus:
    def __init__(self, n_docs: int, vocab: int, topics: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.beta = rng.dirichlet(np.full(vocab, 0.05), topics)
        theta = rng.dirichlet(np.full(topics, 0.2), n_docs)
        lengths = rng.integers(30, 80, n_docs)
        self.counts = np.stack([rng.multinomial(l, t @ self.beta) for l, t in zip(lengths, theta)])
        self.vocab = [f"w{i:03d}" for i in range(vocab)]

    def loaders(self, batch_size: int, test: float = 0.2) -> tuple[DataLoader, DataLoader]:
        x = torch.from_numpy(self.counts).float()
        cut = int(len(x) * (1 - test))
        return (DataLoader(TensorDataset(x[:cut]), batch_size, shuffle=True, drop_last=True),
                DataLoader(TensorDataset(x[cut:]), batch_size))
