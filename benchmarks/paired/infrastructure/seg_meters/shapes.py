import numpy as np
import torch
from torch.utils.data import Dataset

IGNORE = 255


class ShapesSegmentation(Dataset):
    """Discs (1) and squares (2) on a textured background (0), borders ignored."""

    def __init__(self, n, size=20, seed=0):
        self.n, self.size, self.seed = n, size, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(self.seed * 1000 + i)
        s = self.size
        img = 0.2 * rng.randn(3, s, s).astype(np.float32)
        target = np.zeros((s, s), dtype=np.int64)
        yy, xx = np.mgrid[:s, :s]
        cy, cx, r = rng.randint(6, s - 6, 2).tolist() + [rng.randint(3, 6)]
        d = np.hypot(yy - cy, xx - cx)
        img[0][d < r] += 1.0
        target[d < r] = 1
        target[np.abs(d - r) < 0.5] = IGNORE
        y, x, e = rng.randint(0, s - 8, 2).tolist() + [rng.randint(4, 8)]
        img[1, y:y + e, x:x + e] += 1.0
        target[y:y + e, x:x + e] = 2
        return torch.from_numpy(img), torch.from_numpy(target)


def collate_fn(batch):
    images, targets = zip(*batch)
    return torch.stack(images), torch.stack(targets)
