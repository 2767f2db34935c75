import numpy as np
import torch
from torch.utils.data import TensorDataset

N_FEATURES = 12
NAMES = ["charite", "mayo", "ucsf", "karolinska", "aiims", "hupe"]


def _records(rng, n, shift, prevalence):
    y = (rng.random(n) < prevalence).astype(np.int64)
    x = rng.normal(size=(n, N_FEATURES)) + y[:, None] * np.linspace(1.0, 0.0, N_FEATURES)
    return torch.tensor(x + shift, dtype=torch.float32), torch.from_numpy(y)


def build_hospitals(n, seed):
    rng = np.random.default_rng(seed)
    out = {}
    for i in range(n):
        shift = rng.normal(scale=0.3, size=N_FEATURES)
        x, y = _records(rng, int(rng.integers(40, 90)), shift, rng.uniform(0.3, 0.6))
        out[NAMES[i % len(NAMES)]] = TensorDataset(x, y)
    return out


def pooled_test_set(seed, n=120):
    return _records(np.random.default_rng(seed), n, 0.0, 0.5)
