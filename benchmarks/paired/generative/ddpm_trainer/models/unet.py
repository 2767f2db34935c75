import math

import torch
import torch.nn as nn


def timestep_embedding(t, dim, max_period=1000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32) / half).to(t.device)
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class TimeBlock(nn.Module):
    def __init__(self, cin, cout, emb):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.emb = nn.Linear(emb, cout)
        self.norm = nn.GroupNorm(4, cout)
        self.act = nn.SiLU()
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, e):
        h = self.act(self.conv1(x))
        h = self.norm(h + self.emb(e)[:, :, None, None])
        return self.act(self.conv2(h)) + self.skip(x)


class TinyUNet(nn.Module):
    def __init__(self, ch=8, emb=16):
        super().__init__()
        self.emb_dim = emb
        self.time = nn.Sequential(nn.Linear(emb, emb), nn.SiLU(), nn.Linear(emb, emb))
        self.inp = TimeBlock(1, ch, emb)
        self.down = nn.Conv2d(ch, ch * 2, 4, 2, 1)
        self.mid = TimeBlock(ch * 2, ch * 2, emb)
        self.up = nn.ConvTranspose2d(ch * 2, ch, 4, 2, 1)
        self.out = TimeBlock(ch * 2, ch, emb)
        self.head = nn.Conv2d(ch, 1, 1)

    def forward(self, x, t):
        e = self.time(timestep_embedding(t, self.emb_dim))
        h1 = self.inp(x, e)
        h = self.mid(self.down(h1), e)
        h = self.out(torch.cat([self.up(h), h1], dim=1), e)
        return self.head(h)
