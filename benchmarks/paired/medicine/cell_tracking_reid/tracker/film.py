import numpy as np
import torch


class Film:
    """Blobs that wander over the field of view. Frames are float tensors (H, W)."""

    def __init__(self, n_frames, n_cells, size=64, seed=0):
        rng = np.random.default_rng(seed)
        self.n_frames, self.size = n_frames, size
        pos = rng.uniform(8, size - 8, (n_cells, 2))
        vel = rng.normal(0, 1.2, (n_cells, 2))
        self.radius = rng.uniform(2.5, 5, n_cells)
        self.gain = rng.uniform(0.4, 1.0, n_cells)
        self.path = []
        for _ in range(n_frames):
            self.path.append(pos.copy())
            vel += rng.normal(0, 0.4, vel.shape)
            pos = np.clip(pos + vel, 6, size - 6)
        self.rng = rng
        self.frames = [self._render(p) for p in self.path]

    def _render(self, pos):
        yy, xx = np.mgrid[: self.size, : self.size]
        img = self.rng.normal(0, 0.03, (self.size, self.size))
        for (x, y), r, g in zip(pos, self.radius, self.gain):
            img += g * np.exp(-((xx - x) ** 2 + (yy - y) ** 2) / (2 * r * r))
        return torch.from_numpy(img.astype(np.float32))

    def boxes(self, t):
        r = self.radius[:, None] * 1.8
        return np.concatenate([self.path[t] - r, self.path[t] + r], 1)

    def __len__(self):
        return self.n_frames

    def __iter__(self):
        return iter(self.frames)


def detect(film, t):
    """A pretend detector: jittered boxes, some of them with a low score."""
    rng = np.random.default_rng(1000 + t)
    boxes = film.boxes(t) + rng.normal(0, 0.4, (len(film.radius), 4))
    scores = rng.uniform(0.65, 1.0, len(boxes))
    if t > 0:
        faint = rng.choice(len(boxes), 2, replace=False)
        scores[faint] = rng.uniform(0.25, 0.55, 2)
    order = rng.permutation(len(boxes))
    return boxes[order], scores[order], order
