import torch
from torch import nn

REGISTRY = {}


def register(name):
    def add(cls):
        REGISTRY[name] = cls
        return cls

    return add


def build(cfg, stage):
    s = cfg[stage]
    return REGISTRY[s["model"]](s["channels"], s["out"], cfg["factor"])


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1, padding_mode="circular")
        self.b = nn.Conv2d(channels, channels, 3, padding=1, padding_mode="circular")
        self.norm = nn.GroupNorm(3, channels)

    def forward(self, x):
        return x + self.b(torch.nn.functional.silu(self.a(self.norm(x))))


@register("field")
class FieldNet(nn.Module):
    def __init__(self, channels, out, factor):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1, padding_mode="circular")
        self.trunk = nn.Sequential(Block(channels), Block(channels))
        self.up = nn.Upsample(scale_factor=factor, mode="bilinear")
        self.head = nn.Conv2d(channels, out, 3, padding=1, padding_mode="circular")
        self.register_buffer("target_std", torch.ones(out))

    def forward(self, x):
        h = self.up(self.trunk(self.stem(x)))
        return self.head(h) * self.target_std[:, None, None]
