import torch
from torch import nn

from .placement import Placement


def block(cin, cout):
    return nn.Sequential(nn.Conv1d(cin, cout, 5, padding=2), nn.GroupNorm(4, cout), nn.SiLU())


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.b1 = block(1, width)
        self.b2 = block(width, 2 * width)
        self.pool = nn.AvgPool1d(2)

    def forward(self, x):
        s1 = self.b1(x)
        s2 = self.b2(self.pool(s1))
        return self.pool(s2), (s1, s2)


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mid = block(2 * width, 2 * width)
        self.u2 = block(4 * width, width)
        self.u1 = block(2 * width, width)
        self.out = nn.Conv1d(width, 1, 1)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, x, skips):
        s1, s2 = skips
        x = self.up(self.mid(x))
        x = self.up(self.u2(torch.cat([x, s2], dim=1)))
        return self.out(self.u1(torch.cat([x, s1], dim=1)))


class StagedUNet(nn.Module):
    """Encoder on the placement's first device, decoder on its last."""

    def __init__(self, placement: Placement, width: int = 8):
        super().__init__()
        self.placement = placement
        self.encoder = Encoder(width).to(placement.first)
        self.decoder = Decoder(width).to(placement.last)

    def forward(self, x):
        h, skips = self.encoder(x.to(self.placement.first))
        h = h.to(self.placement.last)
        skips = [s.to(self.placement.last) for s in skips]
        return self.decoder(h, skips)

    def parameter_groups(self, lr, decoder_lr=None):
        return [
            {"params": self.encoder.parameters(), "lr": lr},
            {"params": self.decoder.parameters(), "lr": decoder_lr or lr},
        ]
