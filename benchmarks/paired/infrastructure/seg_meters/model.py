import torch
from torch import nn
from torch.nn import functional as F


class FCNHead(nn.Sequential):
    def __init__(self, in_channels, channels):
        inter = in_channels // 2
        super().__init__(
            nn.Conv2d(in_channels, inter, 3, padding=1, bias=False),
            nn.BatchNorm2d(inter),
            nn.ReLU(),
            nn.Conv2d(inter, channels, 1),
        )


class TinyFCN(nn.Module):
    def __init__(self, num_classes, width=8, aux=True):
        super().__init__()
        self.layer1 = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.layer2 = nn.Sequential(
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU())
        self.classifier = FCNHead(2 * width, num_classes)
        self.aux_classifier = FCNHead(width, num_classes) if aux else None

    def forward(self, x):
        size = x.shape[-2:]
        low = self.layer1(x)
        out = {"out": F.interpolate(self.classifier(self.layer2(low)), size=size, mode="nearest")}
        if self.aux_classifier is not None:
            out["aux"] = self.aux_classifier(low)
        return out
