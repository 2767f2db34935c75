import torch
from torch import nn

from views import VIEWS


def tower(width: int):
    return nn.Sequential(
        nn.Conv1d(1, width, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool1d(2),
        nn.Conv1d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveMaxPool1d(4),
        nn.Flatten(),
    )


class VettingNet(nn.Module):
    """Two towers, one per view, and a shared head."""

    def __init__(self, bins: dict, width: int = 8):
        super().__init__()
        self.views = nn.ModuleDict({name: VIEWS[name](n) for name, n in bins.items()})
        self.towers = nn.ModuleDict({name: tower(width) for name in bins})
        self.head = nn.Sequential(nn.Linear(8 * width * len(bins), 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, time, flux, period, epoch):
        features = []
        for name, view in self.views.items():
            folded = view(time, flux, period, epoch)
            features.append(self.towers[name](folded[:, None]))
        return self.head(torch.cat(features, dim=1)).squeeze(1)
