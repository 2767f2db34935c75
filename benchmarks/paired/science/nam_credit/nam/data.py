import numpy as np
import torch

FEATURES = ['income', 'age', 'utilisation', 'delinquencies', 'loan_amount']


def credit_data(n, seed=0):
    rng = np.random.RandomState(seed)
    x = rng.uniform(-1, 1, (n, len(FEATURES))).astype(np.float32)
    score = (-1.5 * x[:, 0] + np.sin(3 * x[:, 1]) + 2 * np.maximum(x[:, 2], 0)
             + x[:, 3] ** 2 + 1.5 * x[:, 0] * x[:, 4])
    y = (rng.rand(n) < 1 / (1 + np.exp(-score))).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)
