import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CROP = 16


def crop(frame, boxes):
    """Resized crops (N, 1, CROP, CROP) around integer boxes."""
    h, w = frame.shape
    out = []
    for x1, y1, x2, y2 in np.round(boxes).astype(int):
        x1, y1 = max(x1, 0), max(y1, 0)
        x2, y2 = min(max(x2, x1 + 2), w), min(max(y2, y1 + 2), h)
        patch = frame[y1:y2, x1:x2][None, None]
        out.append(F.interpolate(patch, size=(CROP, CROP), mode="bilinear", align_corners=False))
    return torch.cat(out)


def triplets(film, seed=0):
    rng = np.random.default_rng(seed)
    n = len(film.radius)
    while True:
        t = int(rng.integers(len(film) - 1))
        now, nxt = crop(film.frames[t], film.boxes(t)), crop(film.frames[t + 1], film.boxes(t + 1))
        other = (np.arange(n) + rng.integers(1, n)) % n
        yield now, nxt, nxt[torch.from_numpy(other)]


class CropEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Flatten()
        )
        self.proj = nn.Linear(16 * (CROP // 4) ** 2, dim)

    def forward(self, x):
        return F.normalize(self.proj(self.features(x)), dim=-1)
