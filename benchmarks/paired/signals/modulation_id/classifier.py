import torch
from torch import nn

from radio import SCHEMES


class Classifier(nn.Module):
    """Works on moments of the signal which do not depend on its phase, and on its envelope."""

    def __init__(self, width=24):
        super().__init__()
        self.envelope = nn.Sequential(
            nn.Conv1d(3, width, 8, stride=4), nn.ReLU(),
            nn.Conv1d(width, width, 3), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Linear(2 * width + 3, 32), nn.ReLU(), nn.Linear(32, len(SCHEMES)))
        self.register_buffer("orders", torch.tensor([2.0, 4.0, 8.0]))

    def forward(self, x):
        x = x / x.abs().square().mean(1, keepdim=True).sqrt()
        phase = x.angle()[:, None] * self.orders[:, None]
        unit = torch.polar(x.abs()[:, None].expand_as(phase).contiguous(), phase)
        moments = unit.mean(-1).abs()
        views = torch.stack([x.abs(), x.real, x.imag], dim=1)
        h = self.envelope(views)
        return self.head(torch.cat([h.mean(-1), h.amax(-1), moments], dim=1))
