import numpy as np
import torch
from torch.utils.data import TensorDataset

FEATURES = {"area": 1, "rooms": 1, "age": -1, "distance": -1, "floor": 0}


def houses(n: int, seed: int) -> TensorDataset:
    rng = np.random.default_rng(seed)
    x = rng.random((n, len(FEATURES)))
    price = (2 * x[:, 0] + 0.5 * np.sqrt(x[:, 1]) - 0.6 * x[:, 2] ** 2
             - 0.8 * x[:, 3] + 0.3 * np.sin(5 * x[:, 4]))
    price += rng.normal(0, 0.5, n)
    return TensorDataset(torch.tensor(x, dtype=torch.float32),
                         torch.tensor(price, dtype=torch.float32))
