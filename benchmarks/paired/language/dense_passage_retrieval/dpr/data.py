from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import Dataset


class SyntheticQA(Dataset):
    """Every passage has a few rare tokens; the question mentions some of them."""

    def __init__(self, n: int = 160, vocab_size: int = 400, p_len: int = 14, q_len: int = 5, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.passages = torch.zeros(n, p_len, dtype=torch.long)
        self.questions = torch.zeros(n, q_len, dtype=torch.long)
        for i in range(n):
            key = rng.choice(np.arange(50, vocab_size), size=4, replace=False)
            body = rng.integers(1, 50, size=p_len - 4)
            self.passages[i] = torch.from_numpy(rng.permutation(np.concatenate([key, body])))
            q = np.concatenate([rng.choice(key, 3, replace=False), rng.integers(1, 50, size=q_len - 3)])
            self.questions[i, : q_len] = torch.from_numpy(q)

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, i: int):
        return self.questions[i], self.passages[i]
