from dataclasses import dataclass

import numpy as np
import torch
from scipy.ndimage import gaussian_filter


@dataclass
class Pair:
    fixed: torch.Tensor
    moving: torch.Tensor
    points: np.ndarray
    target_points: np.ndarray

    @property
    def size(self):
        return self.fixed.shape[-1]


def _draw(points, size):
    axis = (np.arange(size) * 2 + 1) / size - 1
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    img = np.zeros((size, size))
    for k, (x, y) in enumerate(points):
        img += (0.4 + 0.15 * k) * np.exp(-((xx - x) ** 2 + (yy - y) ** 2) / 0.04)
    return gaussian_filter(img, 0.5).astype(np.float32)


def phantom_pair(size, seed):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-0.5, 0.5, (5, 2))
    a = rng.uniform(-0.2, 0.2)
    rot = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) * rng.uniform(0.92, 1.08)
    target = points @ rot.T + rng.uniform(-0.15, 0.15, 2)
    to = lambda x: torch.from_numpy(x)[None, None]
    return Pair(to(_draw(points, size)), to(_draw(target, size)), points, target)
