from __future__ import annotations

import random

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset


class Roads(Dataset):
    """Sky, ground and a road between two random lines; a border of ignored pixels."""

    def __init__(self, n: int, size: int = 24, seed: int = 0) -> None:
        self.n, self.size, self.seed = n, size, seed

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        rng = random.Random(self.seed * 10_000 + i)
        s = self.size
        mask = torch.zeros(s, s, dtype=torch.long)
        horizon = rng.randint(s // 4, s // 2)
        mask[horizon:] = 1
        mid, slope = rng.uniform(0.3, 0.7) * s, rng.uniform(0.2, 0.5)
        for y in range(horizon, s):
            half = 1 + slope * (y - horizon)
            mask[y, max(0, int(mid - half)):int(mid + half)] = 2
        palette = torch.tensor([[0.4, 0.6, 0.9], [0.3, 0.6, 0.2], [0.4, 0.4, 0.4]])
        image = palette[mask].permute(2, 0, 1) + 0.08 * torch.randn(3, s, s)
        mask[:, 0] = mask[:, -1] = 255
        return image, mask


def build_loaders(batch_size: int) -> tuple[DataLoader, DataLoader]:
    return (
        DataLoader(Roads(48), batch_size=batch_size, shuffle=True),
        DataLoader(Roads(16, seed=1), batch_size=batch_size),
    )
