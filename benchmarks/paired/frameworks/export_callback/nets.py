import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 5, padding=2, bias=False)
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class WaveNetLite(nn.Module):
    def __init__(self, classes: int, channels: int = 16, blocks: int = 2):
        super().__init__()
        self.config = {"classes": classes, "channels": channels, "blocks": blocks}
        self.stem = nn.Conv1d(1, channels, 7, stride=2, padding=3)
        self.blocks = nn.Sequential(*[Residual(channels) for _ in range(blocks)])
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean(dim=-1))


def waves(n: int, classes: int, seed: int, length: int = 64):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    t = torch.linspace(0, 1, length)
    phase = torch.rand(n, 1, generator=g) * 2 * torch.pi
    x = torch.sin(2 * torch.pi * (2 + 3 * y[:, None]) * t + phase)
    return (x + 0.2 * torch.randn(n, length, generator=g)).unsqueeze(1), y
