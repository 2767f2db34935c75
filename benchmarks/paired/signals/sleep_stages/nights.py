"""Synthetic nights: one feature vector per 30 s epoch, of different lengths."""
import math
import random
from typing import NamedTuple

import torch
from torch.nn.utils.rnn import pad_sequence

STAGES = ("W", "N1", "N2", "N3", "R")
IGNORE = -100
NEXT = {0: (0, 0, 1), 1: (1, 2, 2, 0), 2: (2, 2, 2, 3, 4), 3: (3, 3, 3, 2), 4: (4, 4, 4, 0, 2)}
BANDS = {0: (0.3, 1.0, 0.9), 1: (0.5, 0.7, 0.5), 2: (0.9, 0.4, 0.8), 3: (1.6, 0.2, 0.2), 4: (0.5, 0.6, 0.3)}


class Night(NamedTuple):
    subject: int
    bands: torch.Tensor
    stages: torch.Tensor


def sleep(subject, rng):
    n, stage, path = rng.randint(50, 90), 0, []
    for _ in range(n):
        path.append(stage)
        stage = rng.choice(NEXT[stage])
    gain = rng.uniform(0.7, 1.4)
    rows = [[gain * b + rng.gauss(0, 0.15) for b in BANDS[s]] for s in path]
    clock = [[math.sin(2 * math.pi * i / 90), math.cos(2 * math.pi * i / 90)] for i in range(n)]
    bands = torch.cat([torch.tensor(rows), torch.tensor(clock)], dim=1)
    return Night(subject, bands, torch.tensor(path))


def cohort(n, seed):
    rng = random.Random(seed)
    return [sleep(i, rng) for i in range(n)]


def collate(nights):
    nights = sorted(nights, key=lambda x: -len(x.stages))
    return {
        "subject": [x.subject for x in nights],
        "bands": pad_sequence([x.bands for x in nights], batch_first=True),
        "stages": pad_sequence([x.stages for x in nights], batch_first=True, padding_value=IGNORE),
        "lengths": torch.tensor([len(x.stages) for x in nights]),
    }
