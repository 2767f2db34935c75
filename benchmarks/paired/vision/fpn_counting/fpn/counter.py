import torch
from torch import nn

from .backbone import Backbone
from .pyramid import FeaturePyramid


class DensityCounter(nn.Module):
    """Predicts a density map on each pyramid level; the count is the integral of the finest."""

    def __init__(self, channels=16):
        super().__init__()
        self.backbone = Backbone()
        self.fpn = FeaturePyramid(self.backbone.out_channels, channels)
        self.head = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(), nn.Conv2d(channels, 1, 1))

    def forward(self, x):
        return {k: torch.nn.functional.softplus(self.head(v)) for k, v in self.fpn(self.backbone(x)).items()}
