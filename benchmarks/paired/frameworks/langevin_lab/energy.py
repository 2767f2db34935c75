import torch
from torch import nn


class MixtureEnergy(nn.Module):
    """Negative log density of a fixed Gaussian mixture."""

    def __init__(self, centers, scale=0.4):
        super().__init__()
        self.register_buffer("centers", centers)
        self.scale = scale

    def forward(self, x):
        d = torch.cdist(x, self.centers).pow(2)
        return -torch.logsumexp(-d / (2 * self.scale**2), dim=1)


class NeuralEnergy(nn.Module):
    def __init__(self, dim, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(1) + 0.5 * x.pow(2).sum(1) * 0.1
