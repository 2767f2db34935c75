"""Irregularly sampled vital signs: damped oscillations seen at random times."""
import math
from typing import List, NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Batch(NamedTuple):
    times: torch.Tensor     # B x T
    values: torch.Tensor    # B x T x D
    mask: torch.Tensor      # B x T
    lengths: torch.Tensor   # B
    outcome: torch.Tensor   # B


class Vitals(Dataset):
    def __init__(self, n: int, dims: int = 2, max_obs: int = 12, seed: int = 0):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            k = int(torch.randint(5, max_obs + 1, (1,), generator=g))
            t = torch.rand(k, generator=g).sort().values
            decay, freq = 0.5 + torch.rand(2, generator=g)
            phase = torch.arange(dims) * math.pi / 2
            v = torch.exp(-decay * t)[:, None] * torch.sin(2 * math.pi * freq * t[:, None] + phase)
            v = v + 0.05 * torch.randn(k, dims, generator=g)
            self.items.append((t, v, float(decay > 1.0)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items: List) -> Batch:
    times, values, outcome = zip(*items)
    lengths = torch.tensor([len(t) for t in times])
    mask = torch.arange(int(lengths.max()))[None] < lengths[:, None]
    return Batch(
        pad_sequence(times, batch_first=True, padding_value=1.0),
        pad_sequence(values, batch_first=True),
        mask.float(),
        lengths,
        torch.tensor(outcome),
    )


def to_device(batch: Batch, device: torch.device) -> Batch:
    return Batch(*(t.to(device) for t in batch))
