import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEncoding(nn.Module):
    def __init__(self, num_freqs: int, include_input: bool = True):
        super().__init__()
        self.include_input = include_input
        self.register_buffer("freqs", 2.0 ** torch.arange(num_freqs).float() * math.pi)

    @property
    def out_dim(self):
        return 3 * (2 * len(self.freqs) + int(self.include_input))

    def forward(self, x):
        xf = (x[..., None] * self.freqs).flatten(-2)
        parts = [xf.sin(), xf.cos()]
        if self.include_input:
            parts.insert(0, x)
        return torch.cat(parts, dim=-1)


class RadianceField(nn.Module):
    """Density from position, colour from position and view direction."""

    def __init__(self, hidden=32, depth=2, pos_freqs=4, dir_freqs=2):
        super().__init__()
        self.enc_pos = PositionalEncoding(pos_freqs)
        self.enc_dir = PositionalEncoding(dir_freqs)
        layers, d = [], self.enc_pos.out_dim
        for _ in range(depth):
            layers += [nn.Linear(d, hidden), nn.ReLU(inplace=True)]
            d = hidden
        self.trunk = nn.Sequential(*layers)
        self.sigma = nn.Linear(hidden, 1)
        self.rgb = nn.Sequential(
            nn.Linear(hidden + self.enc_dir.out_dim, hidden // 2), nn.ReLU(), nn.Linear(hidden // 2, 3)
        )

    def density(self, x):
        return F.softplus(self.sigma(self.trunk(self.enc_pos(x))) - 1.0).squeeze(-1)

    def forward(self, x, d):
        h = self.trunk(self.enc_pos(x))
        sigma = F.softplus(self.sigma(h) - 1.0).squeeze(-1)
        rgb = torch.sigmoid(self.rgb(torch.cat([h, self.enc_dir(d)], dim=-1)))
        return sigma, rgb
