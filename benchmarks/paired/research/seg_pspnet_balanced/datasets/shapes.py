import numpy as np
import torch
from torch.utils import data

IGNORE = 255


class ShapesVOC(data.Dataset):
    """Rectangles on noise; class 0 is background, object borders are ignored."""

    n_classes = 5

    def __init__(self, split='train', size=24, n=24):
        rng = np.random.RandomState(0 if split == 'train' else 99)
        self.samples = []
        for _ in range(n):
            lbl = np.zeros((size, size), dtype=np.int64)
            for _ in range(2):
                c = rng.choice([1, 1, 1, 2, 3, 4])
                y, x = rng.randint(0, size - 8, 2)
                h, w = rng.randint(4, 8, 2)
                lbl[y:y + h, x:x + w] = c
                lbl[y, x:x + w] = IGNORE
            img = rng.randn(3, size, size) * 0.2
            img += np.where(lbl == IGNORE, 0, lbl)[None] * np.array([0.5, -0.3, 0.2])[:, None, None]
            self.samples.append((img.astype(np.float32), lbl))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        img, lbl = self.samples[i]
        return torch.from_numpy(img), torch.from_numpy(lbl)
