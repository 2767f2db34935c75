import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from torch.utils.data import Dataset


class BitemporalTiles(Dataset):
    """Two acquisitions of a tile; rectangles are built or torn down in between."""

    def __init__(self, tiles, size, bands, seed):
        rng = np.random.default_rng(seed)
        self.data = []
        for _ in range(tiles):
            ground = gaussian_filter(rng.normal(size=(bands, size, size)), (0, 2, 2)) * 2
            before = ground + rng.normal(0, 0.1, ground.shape)
            after = ground * rng.uniform(0.9, 1.1) + rng.normal(0, 0.1, ground.shape)
            mask = np.zeros((size, size), dtype=np.int64)
            for _ in range(2):
                y, x = rng.integers(0, size - 5, 2)
                h, w = rng.integers(3, 6, 2)
                (after if rng.random() < 0.5 else before)[:, y:y + h, x:x + w] += 1.5
                mask[y:y + h, x:x + w] = 1
            self.data.append((torch.from_numpy(before).float(), torch.from_numpy(after).float(), torch.from_numpy(mask)))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]
