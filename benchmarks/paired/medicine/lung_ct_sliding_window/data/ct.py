import numpy as np
import torch
from torch.utils.data import Dataset


def make_volume(rng, shape):
    """A noisy volume in Hounsfield units with a few bright spheres."""
    vol = rng.normal(-700, 80, size=shape).astype(np.float32)
    mask = np.zeros(shape, dtype=np.int64)
    zz, yy, xx = np.meshgrid(*[np.arange(s) for s in shape], indexing="ij")
    for _ in range(rng.integers(1, 4)):
        c = [rng.integers(2, s - 2) for s in shape]
        r = rng.uniform(2, 4)
        ball = (zz - c[0]) ** 2 + (yy - c[1]) ** 2 + (xx - c[2]) ** 2 <= r * r
        vol[ball] = rng.normal(40, 60, size=int(ball.sum()))
        mask[ball] = 1
    return vol, mask


def window(vol, lo=-1000.0, hi=400.0):
    return (np.clip(vol, lo, hi) - lo) / (hi - lo) * 2 - 1


class CTVolumeDataset(Dataset):
    def __init__(self, n, shape, seed):
        rng = np.random.default_rng(seed)
        self.items = [make_volume(rng, tuple(shape)) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        vol, mask = self.items[i]
        return {
            "image": torch.from_numpy(window(vol)).float()[None],
            "label": torch.from_numpy(mask),
            "id": f"case_{i:03d}",
        }


class CTPatchDataset(CTVolumeDataset):
    """Random crops, half of them centred on foreground."""

    def __init__(self, n, shape, patch, seed, per_volume=3):
        super().__init__(n, shape, seed)
        self.patch = tuple(patch)
        self.per_volume = per_volume
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.items) * self.per_volume

    def __getitem__(self, i):
        sample = super().__getitem__(i // self.per_volume)
        shape = sample["label"].shape
        if i % 2 == 0:
            fg = sample["label"].nonzero()
            centre = fg[self.rng.integers(len(fg))].tolist()
        else:
            centre = [int(self.rng.integers(s)) for s in shape]
        sl = []
        for c, p, s in zip(centre, self.patch, shape):
            start = min(max(c - p // 2, 0), s - p)
            sl.append(slice(start, start + p))
        sample["image"] = sample["image"][(slice(None), *sl)]
        sample["label"] = sample["label"][tuple(sl)]
        return sample
