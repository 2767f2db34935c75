import numpy as np
import torch
from torch.utils.data import Dataset


class StickHands(Dataset):
    """Small pictures with K coloured blobs on a random star. A part is unlabelled."""

    def __init__(self, n=32, size=32, stride=4, joints=4, labelled=0.5, sigma=1.0, seed=0):
        self.size, self.stride, self.joints, self.sigma = size, stride, joints, sigma
        rng = np.random.RandomState(seed)
        self.samples = []
        for k in range(n):
            root = rng.uniform(0.35, 0.65, 2) * size
            ang = np.linspace(0, 2 * np.pi, joints, endpoint=False) + rng.uniform(0, 0.6)
            pts = root + np.stack([np.cos(ang), np.sin(ang)], 1) * rng.uniform(6, 10)
            visible = (rng.rand(joints) > 0.1).astype(np.float32)
            self.samples.append((self._draw(pts, rng), pts.astype(np.float32), visible, k < labelled * n))

    def _draw(self, pts, rng):
        yy, xx = np.mgrid[: self.size, : self.size]
        img = rng.rand(3, self.size, self.size) * 0.15
        for j, (x, y) in enumerate(pts):
            blob = np.exp(-((xx - x) ** 2 + (yy - y) ** 2) / 6.0)
            color = np.array([j & 1, (j >> 1) & 1, 1.0])
            img += color[:, None, None] * blob
        return img.astype(np.float32)

    def heatmaps(self, pts):
        g = self.size // self.stride
        yy, xx = np.mgrid[:g, :g]
        c = pts / self.stride - 0.5
        d2 = (xx[None] - c[:, 0, None, None]) ** 2 + (yy[None] - c[:, 1, None, None]) ** 2
        return np.exp(-d2 / (2 * self.sigma ** 2)).astype(np.float32)

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        img, pts, vis, labelled = self.samples[i]
        meta = {"joints": torch.from_numpy(pts), "index": i}
        return torch.from_numpy(img), torch.from_numpy(self.heatmaps(pts)), torch.from_numpy(vis * labelled), meta
