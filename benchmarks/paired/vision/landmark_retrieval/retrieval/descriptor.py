import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange


class GeM(nn.Module):
    """Generalised mean pooling"""

    def __init__(self, p=3.0, eps=1e-6):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1) * p)
        self.eps = eps

    def forward(self, x):
        x = x.clamp(min=self.eps).pow(self.p)
        return rearrange(x, "b c h w -> b c (h w)").mean(-1).pow(1.0 / self.p)


class DescriptorNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.pool = GeM()
        self.whiten = nn.Linear(32, dim)

    def forward(self, x):
        return F.normalize(self.whiten(self.pool(self.trunk(x))), dim=-1)
