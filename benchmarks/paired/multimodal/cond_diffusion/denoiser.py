import math

import torch
from torch import nn


def time_features(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(1000.0) * torch.arange(half, device=t.device) / half)
    angles = t[:, None].float() * freqs[None]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class FiLM(nn.Module):
    def __init__(self, cond, channels):
        super().__init__()
        self.to_scale_shift = nn.Linear(cond, channels * 2)

    def forward(self, h, cond):
        scale, shift = self.to_scale_shift(cond)[..., None, None].chunk(2, dim=1)
        return h * (1 + scale) + shift


class TextConditionedDenoiser(nn.Module):
    def __init__(self, vocab=12, channels=16, cond=32):
        super().__init__()
        self.null_token = vocab
        self.words = nn.EmbeddingBag(vocab + 1, cond, mode="mean")
        self.time = nn.Sequential(nn.Linear(cond, cond), nn.SiLU())
        self.inp = nn.Conv2d(1, channels, 3, padding=1)
        self.film = nn.ModuleList(FiLM(cond, channels) for _ in range(2))
        self.convs = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.out = nn.Conv2d(channels, 1, 3, padding=1)
        self.cond = cond

    def forward(self, x, t, tokens):
        c = self.words(tokens) + self.time(time_features(t, self.cond))
        h = self.inp(x)
        for film, conv in zip(self.film, self.convs):
            h = h + conv(torch.nn.functional.silu(film(h, c)))
        return self.out(h)

    def drop_condition(self, tokens, p):
        drop = torch.rand(len(tokens), 1, device=tokens.device) < p
        return torch.where(drop, self.null_token, tokens)
