from typing import Callable, Iterator, Tuple

import numpy as np
import torch
from torch import Tensor


def torus(p: np.ndarray, R: float = 0.55, r: float = 0.2) -> np.ndarray:
    q = np.stack([np.linalg.norm(p[..., :2], axis=-1) - R, p[..., 2]], -1)
    return np.linalg.norm(q, axis=-1) - r


class SDFSamples:
    """Near-surface and uniform samples of an analytic shape, shuffled minibatches."""

    def __init__(self, shape: Callable = torus, n: int = 1024, near: float = 0.6, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        uniform = rng.uniform(-1, 1, (int(n * (1 - near)), 3))
        cand = rng.uniform(-1, 1, (n * 8, 3))
        close = cand[np.argsort(np.abs(shape(cand)))[: n - len(uniform)]]
        pts = np.concatenate([uniform, close])
        self.points = torch.from_numpy(pts.astype(np.float32))
        self.values = torch.from_numpy(shape(pts).astype(np.float32))
        self.shape = shape

    def __len__(self) -> int:
        return len(self.points)

    def batches(self, size: int) -> Iterator[Tuple[Tensor, Tensor]]:
        for idx in torch.randperm(len(self)).split(size):
            yield self.points[idx], self.values[idx]
