import torch.nn.functional as F
from torch import nn


class FeaturePyramid(nn.Module):
    """Top-down pathway with lateral connections (Lin et al., 2017)."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        laterals, outputs = [], []
        for c in in_channels:
            laterals.append(nn.Conv2d(c, out_channels, 1))
            outputs.append(nn.Conv2d(out_channels, out_channels, 3, padding=1))
        self.laterals = nn.ModuleList(laterals)
        self.outputs = nn.ModuleList(outputs)

    def forward(self, feats):
        names, maps = zip(*feats.items())
        last = self.laterals[-1](maps[-1])
        results = [self.outputs[-1](last)]
        for idx in range(len(maps) - 2, -1, -1):
            lateral = self.laterals[idx](maps[idx])
            top_down = F.interpolate(last, size=lateral.shape[-2:], mode="nearest")
            last = lateral + top_down
            results.insert(0, self.outputs[idx](last))
        return dict(zip(("p" + n[1:] for n in names), results))
