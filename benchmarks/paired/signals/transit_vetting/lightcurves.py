"""Synthetic light curves with box shaped transits or V shaped eclipses."""
from dataclasses import dataclass

import torch
from torch.utils.data import Dataset


@dataclass(frozen=True)
class Survey:
    n_cadences: int = 600
    baseline_days: float = 27.0
    noise: float = 4e-4
    seed: int = 11


class ThresholdCrossings(Dataset):
    """Candidates of a box search: half are planets, half are eclipsing binaries."""

    def __init__(self, n: int, survey: Survey):
        g = torch.Generator().manual_seed(survey.seed)
        self.time = torch.linspace(0.0, survey.baseline_days, survey.n_cadences)
        self.period = 1.5 + 6.0 * torch.rand(n, generator=g)
        self.epoch = self.period * torch.rand(n, generator=g)
        self.label = (torch.arange(n) % 2).float()
        noise = survey.noise * torch.randn(n, survey.n_cadences, generator=g)
        depth = 2e-3 + 4e-3 * torch.rand(n, generator=g)
        phase = fold(self.time[None], self.period[:, None], self.epoch[:, None])
        box = (phase.abs() < 0.02).float()
        vee = (1.0 - phase.abs() / 0.04).clamp(min=0.0)
        shape = torch.where(self.label[:, None] > 0.5, box, vee)
        self.flux = 1.0 - depth[:, None] * shape + noise

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return {
            "time": self.time,
            "flux": self.flux[i],
            "period": self.period[i],
            "epoch": self.epoch[i],
            "label": self.label[i],
        }


def fold(time, period, epoch):
    """Orbital phase in [-0.5, 0.5)."""
    cycles = (time - epoch) / period
    return cycles - torch.floor(cycles + 0.5)
