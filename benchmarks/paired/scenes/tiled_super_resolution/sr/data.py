import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from torch.utils.data import IterableDataset


def picture(rng, h, w):
    img = gaussian_filter(rng.random((h, w)), 2.0)
    img = (img - img.min()) / np.ptp(img)
    for _ in range(4):
        y, x = rng.integers(0, h - 8), rng.integers(0, w - 8)
        img[y : y + rng.integers(4, 16), x : x + rng.integers(4, 16)] = rng.random()
    return torch.from_numpy(img).float()[None]


def degrade(hr, scale):
    return torch.nn.functional.avg_pool2d(hr, scale)


class PatchStream(IterableDataset):
    def __init__(self, n, patch=24, scale=2, seed=0):
        self.n, self.patch, self.scale, self.seed = n, patch, scale, seed

    def __iter__(self):
        rng = np.random.default_rng(self.seed)
        big = [picture(rng, 64, 64) for _ in range(4)]
        for _ in range(self.n):
            src = big[rng.integers(len(big))]
            y, x = rng.integers(0, 64 - self.patch, 2)
            hr = src[:, y : y + self.patch, x : x + self.patch]
            if rng.random() < 0.5:
                hr = hr.flip(-1)
            yield degrade(hr, self.scale), hr
