import numpy as np
import torch
from torch.utils.data import Dataset


class Glyphs(Dataset):
    """Each identity is a random binary glyph; samples are shifted, noisy copies."""

    def __init__(self, per_class, num_classes=8, size=10, seed=0):
        base = np.random.RandomState(123)
        rng = np.random.RandomState(seed)
        proto = (base.rand(num_classes, size, size) > 0.6).astype(np.float32)
        xs, ys = [], []
        for c in range(num_classes):
            for _ in range(per_class):
                img = np.roll(proto[c], tuple(rng.randint(-1, 2, 2)), axis=(0, 1))
                xs.append(img + 0.2 * rng.randn(size, size))
                ys.append(c)
        self.x = np.stack(xs).astype(np.float32)[:, None]
        self.y = np.array(ys, dtype=np.int64)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor(self.y[i])
