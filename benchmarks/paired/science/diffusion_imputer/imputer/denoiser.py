import math

import torch
import torch.nn as nn


class StepEmbedding(nn.Module):
    def __init__(self, steps, dim):
        super().__init__()
        freqs = torch.exp(-math.log(1e4) * torch.arange(dim // 2) / (dim // 2))
        table = torch.arange(steps).unsqueeze(1) * freqs
        self.register_buffer('table', torch.cat([table.sin(), table.cos()], dim=1), persistent=False)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.SiLU())

    def forward(self, t):
        return self.proj(self.table[t])


class Denoiser(nn.Module):
    def __init__(self, features, width=16, steps=20):
        super().__init__()
        self.inp = nn.Conv1d(3 * features, width, 1)
        self.step = StepEmbedding(steps, width)
        self.blocks = nn.ModuleList(
            [nn.Conv1d(width, 2 * width, 3, padding=2 ** i, dilation=2 ** i) for i in range(3)])
        self.out = nn.Conv1d(width, features, 1)
        nn.init.zeros_(self.out.weight)

    def forward(self, known, noisy, cond, t):
        # B x L x K
        h = self.inp(torch.cat([known, noisy, cond], dim=-1).transpose(1, 2))
        emb = self.step(t).unsqueeze(-1)
        for conv in self.blocks:
            gate, filt = conv(h + emb).chunk(2, dim=1)
            h = h + torch.sigmoid(gate) * torch.tanh(filt)
        return self.out(h).transpose(1, 2)
