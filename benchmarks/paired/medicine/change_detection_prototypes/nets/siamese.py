import torch
import torch.nn.functional as F
from torch import nn

from registry import NETS


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU())


@NETS.register
class SiameseUnet(nn.Module):
    def __init__(self, bands, width, embed):
        super().__init__()
        self.down1, self.down2 = block(bands, width), block(width, width * 2)
        self.up = block(width * 3, embed)
        self.head = nn.Conv2d(embed, 2, 1)

    def encode(self, x):
        a = self.down1(x)
        return a, self.down2(F.avg_pool2d(a, 2))

    def forward(self, before, after):
        a1, a2 = self.encode(before)
        b1, b2 = self.encode(after)
        deep = F.interpolate((a2 - b2).abs(), scale_factor=2)
        feats = self.up(torch.cat([(a1 - b1).abs(), deep], 1))
        return self.head(feats), feats
