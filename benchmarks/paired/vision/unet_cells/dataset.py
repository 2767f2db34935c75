import numpy as np
import torch
from torch.utils.data import Dataset


class CellDataset(Dataset):
    """Synthetic microscopy: background (0), cell body (1), thin membrane (2)"""

    num_classes = 3

    def __init__(self, n, size=32, seed=0):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:size, :size]
        self.images, self.masks = [], []
        for _ in range(n):
            mask = np.zeros((size, size), np.int64)
            for _ in range(rng.integers(1, 4)):
                cy, cx, r = *rng.uniform(6, size - 6, 2), rng.uniform(3, 6)
                d = np.hypot(yy - cy, xx - cx)
                mask[d < r] = 1
                mask[np.abs(d - r) < 0.7] = 2
            image = np.choose(mask, [0.1, 0.5, 0.9]) + rng.normal(0, 0.1, mask.shape)
            self.images.append(image.astype(np.float32)[None])
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, idx):
        return {'image': torch.from_numpy(self.images[idx]), 'mask': torch.from_numpy(self.masks[idx])}

    def class_weights(self):
        """Median frequency balancing"""
        counts = np.bincount(np.concatenate([m.ravel() for m in self.masks]), minlength=self.num_classes)
        freq = counts / counts.sum()
        return torch.from_numpy(np.median(freq) / freq).float()
