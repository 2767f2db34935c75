import math

import torch
from torch import nn


class FourierFeatures(nn.Module):
    def __init__(self, bands):
        super().__init__()
        self.register_buffer("freq", torch.linspace(0.25, 1.5, bands), persistent=False)

    def forward(self, x):
        z = math.pi / 2 * x * self.freq
        return torch.cat([x / 4, z.sin(), z.cos()], dim=-1)


def regressor(bands=4, width=40):
    return nn.Sequential(
        FourierFeatures(bands),
        nn.Linear(2 * bands + 1, width), nn.Tanh(),
        nn.Linear(width, width), nn.Tanh(),
        nn.Linear(width, 1),
    )
