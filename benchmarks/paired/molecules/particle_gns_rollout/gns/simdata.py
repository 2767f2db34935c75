"""Bouncing particles with soft repulsion in boxes of different sizes; ground truth in NumPy."""
from dataclasses import dataclass
from typing import List

import numpy as np
import torch
from torch.utils.data import Dataset


def simulate(n, steps, box, rng, dt=0.02, radius=0.12):
    x = rng.uniform(0.1, 0.9, (n, 2)) * box
    v = rng.normal(scale=0.6, size=(n, 2))
    frames = []
    for _ in range(steps):
        d = x[:, None] - x[None]
        r = np.linalg.norm(d, axis=-1) + np.eye(n)
        f = np.where((r < radius)[..., None], 40 * (radius - r)[..., None] * d / r[..., None], 0).sum(1)
        v = v + dt * (f + np.array([0.0, -1.0]))
        x = x + dt * v
        hit = (x < 0) | (x > box)
        v = np.where(hit, -0.9 * v, v)
        x = np.clip(x, 0, box)
        frames.append(x.copy())
    return np.stack(frames, 1).astype(np.float32)


@dataclass
class Window:
    history: torch.Tensor  # (n, h, 2)
    target: torch.Tensor  # (n, 2) next position
    kind: torch.Tensor  # (n,)
    walls: torch.Tensor  # (2,) extent of the box


@dataclass
class ParticleBatch:
    history: torch.Tensor
    target: torch.Tensor
    kind: torch.Tensor
    graph: torch.Tensor
    walls: torch.Tensor  # (graphs, 2)
    sizes: List[int]

    def to(self, device):
        return ParticleBatch(
            history=self.history.to(device),
            target=self.target.to(device),
            kind=self.kind.to(device),
            graph=self.graph.to(device),
            walls=self.walls.to(device),
            sizes=self.sizes,
        )

    def advance(self, nxt):
        """Shift the history window by one predicted frame."""
        history = torch.cat([self.history[:, 1:], nxt.unsqueeze(1)], 1)
        return ParticleBatch(history, self.target, self.kind, self.graph, self.walls, self.sizes)


def collate(windows):
    sizes = [len(w.kind) for w in windows]
    return ParticleBatch(
        history=torch.cat([w.history for w in windows]),
        target=torch.cat([w.target for w in windows]),
        kind=torch.cat([w.kind for w in windows]),
        graph=torch.repeat_interleave(torch.arange(len(windows)), torch.tensor(sizes)),
        walls=torch.stack([w.walls for w in windows]),
        sizes=sizes,
    )


class Trajectories(Dataset):
    def __init__(self, n_traj, steps, history, seed):
        rng = np.random.default_rng(seed)
        self.h = history
        self.runs = []
        for _ in range(n_traj):
            n, box = int(rng.integers(6, 12)), rng.uniform(0.8, 1.4, 2)
            pos = torch.from_numpy(simulate(n, steps, box, rng))
            kind = torch.from_numpy(rng.integers(0, 2, n))
            self.runs.append((pos, kind, torch.tensor(box, dtype=torch.float32)))
        self.index = [(i, t) for i in range(n_traj) for t in range(history, steps)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, k):
        i, t = self.index[k]
        pos, kind, walls = self.runs[i]
        return Window(pos[:, t - self.h : t], pos[:, t], kind, walls)

    def acceleration_std(self):
        acc = torch.cat([(p[:, 2:] - 2 * p[:, 1:-1] + p[:, :-2]).reshape(-1, 2) for p, _, _ in self.runs])
        return acc.std(0)
