import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def timestep_embedding(t, dim):
    freqs = torch.exp(-math.log(1000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    angles = t.float().unsqueeze(1) * freqs
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class ResBlock(nn.Module):
    def __init__(self, cin, cout, emb):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.norm = nn.GroupNorm(4, cout)
        self.emb = nn.Linear(emb, 2 * cout)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, emb):
        scale, shift = self.emb(emb)[:, :, None, None].chunk(2, dim=1)
        h = self.norm(self.conv1(x)) * (1 + scale) + shift
        return self.skip(x) + self.conv2(F.silu(h))


class SpecUNet(nn.Module):
    def __init__(self, n_classes, width=8, emb=16):
        super().__init__()
        self.null_label = n_classes
        self.emb_dim = emb
        self.label_emb = nn.Embedding(n_classes + 1, emb)
        self.time = nn.Sequential(nn.Linear(emb, emb), nn.SiLU())
        self.inp = nn.Conv2d(1, width, 3, padding=1)
        self.down = ResBlock(width, 2 * width, emb)
        self.mid = ResBlock(2 * width, 2 * width, emb)
        self.up = ResBlock(3 * width, width, emb)
        self.out = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x, t, label):
        emb = self.time(timestep_embedding(t, self.emb_dim)) + self.label_emb(label)
        h0 = self.inp(x)
        h = self.mid(self.down(F.avg_pool2d(h0, 2), emb), emb)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        return self.out(self.up(torch.cat([h, h0], dim=1), emb))
