import numpy as np
import torch
from torch.utils.data import Dataset

PARTS = ("base", "pole", "shade", "cord")


def _lamp(rng, n):
    frac = rng.dirichlet([6, 2, 8, 0.7])
    counts = np.maximum((frac * n).astype(int), 1)
    counts[2] += n - counts.sum()
    th = rng.uniform(0, 2 * np.pi, n)
    chunks, labels = [], []
    pos = 0
    for part, c in enumerate(counts):
        a = th[pos : pos + c]
        pos += c
        if part == 0:
            r = 0.5 * np.sqrt(rng.random(c))
            xyz = np.stack([r * np.cos(a), r * np.sin(a), np.full(c, -0.9)], 1)
        elif part == 1:
            xyz = np.stack([0.03 * np.cos(a), 0.03 * np.sin(a), rng.uniform(-0.9, 0.4, c)], 1)
        elif part == 2:
            z = rng.uniform(0.4, 0.9, c)
            r = 0.6 - 0.5 * (z - 0.4)
            xyz = np.stack([r * np.cos(a), r * np.sin(a), z], 1)
        else:
            s = rng.random(c)
            xyz = np.stack([0.5 + 0.5 * s, 0.1 * np.sin(8 * s), np.full(c, -0.9)], 1)
        chunks.append(xyz)
        labels.append(np.full(c, part))
    return np.concatenate(chunks), np.concatenate(labels)


class LampParts(Dataset):
    def __init__(self, n_shapes, n_points, seed, augment=False):
        self.augment = augment
        rng = np.random.default_rng(seed)
        self.clouds, self.labels = [], []
        for _ in range(n_shapes):
            xyz, lab = _lamp(rng, n_points)
            perm = rng.permutation(n_points)
            self.clouds.append(torch.tensor(xyz[perm], dtype=torch.float32))
            self.labels.append(torch.tensor(lab[perm], dtype=torch.long))

    def __len__(self):
        return len(self.clouds)

    def __getitem__(self, i):
        xyz = self.clouds[i]
        if self.augment:
            a = torch.rand(()) * 6.2832
            c, s = torch.cos(a), torch.sin(a)
            rot = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
            xyz = torch.cat([xyz[:, :2] @ rot.T, xyz[:, 2:]], 1) + 0.01 * torch.randn_like(xyz)
        return xyz, self.labels[i]

    def label_frequencies(self):
        hist = torch.bincount(torch.cat(self.labels), minlength=len(PARTS)).float()
        return hist / hist.sum()
