"""Synthetic keywords: each class is a fixed melody with jitter and noise."""
import math
import random

import torch
from torch.utils.data import Dataset

MELODIES = {
    "up": (300, 600, 900),
    "down": (900, 600, 300),
    "go": (500, 500, 1200),
    "stop": (1500, 400, 1500),
}


class ToneWords(Dataset):
    def __init__(self, n, sr=8000, seconds=0.3, seed=0):
        self.sr, self.len = sr, int(sr * seconds)
        self.classes = sorted(MELODIES)
        rng = random.Random(seed)
        self.spec = [(rng.randrange(len(self.classes)), rng.uniform(0.9, 1.1), rng.random())
                     for _ in range(n)]

    def __len__(self):
        return len(self.spec)

    def __getitem__(self, i):
        label, pitch, shift = self.spec[i]
        seg = self.len // 3
        t = torch.arange(seg) / self.sr
        wav = torch.cat([torch.sin(2 * math.pi * f * pitch * t) for f in MELODIES[self.classes[label]]])
        wav = torch.roll(wav, int(shift * 200))
        return wav + 0.2 * torch.randn(len(wav)), label
