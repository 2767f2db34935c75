import torch
from torch import nn


class GapFiller(nn.Module):
    def __init__(self, features, hidden, bottleneck):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(2 * features, hidden), nn.ELU(), nn.Linear(hidden, bottleneck))
        self.dec = nn.Sequential(nn.ELU(), nn.Linear(bottleneck, hidden), nn.ELU(), nn.Linear(hidden, features))

    def forward(self, x, seen):
        return self.dec(self.enc(torch.cat([x, seen], dim=1)))


def masked_mse(recon, x, seen, hidden_weight=2.0):
    w = seen + hidden_weight * (1 - seen)
    return (w * (recon - x) ** 2).sum() / w.sum()
