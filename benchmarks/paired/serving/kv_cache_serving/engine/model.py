from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelConfig:
    vocab_size: int = 64
    dim: int = 32
    n_layers: int = 2
    n_heads: int = 4
    max_len: int = 64
    rope_base: float = 10000.0

    @property
    def head_dim(self):
        return self.dim // self.n_heads


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rope_table(cfg):
    inv = cfg.rope_base ** (-torch.arange(0, cfg.head_dim, 2).float() / cfg.head_dim)
    angle = torch.outer(torch.arange(cfg.max_len).float(), inv)
    return torch.polar(torch.ones_like(angle), angle)


def rotate(x, freqs):
    xc = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(xc * freqs).flatten(-2).type_as(x)


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.q = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.k = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.v = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.o = nn.Linear(cfg.dim, cfg.dim, bias=False)

    def forward(self, x, freqs, layer_cache):
        T = x.size(0)
        q, k, v = (
            m(x).view(T, self.cfg.n_heads, self.cfg.head_dim).transpose(0, 1) for m in (self.q, self.k, self.v)
        )
        q, k = rotate(q, freqs), rotate(k, freqs)
        k, v = layer_cache.append(k, v)
        S = k.size(1)
        allowed = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.o(y.transpose(0, 1).reshape(T, -1))


class TinyLlama(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Embedding(cfg.vocab_size, cfg.dim)
        self.layers = nn.ModuleList(
            nn.ModuleDict({
                "norm1": RMSNorm(cfg.dim), "attn": Attention(cfg), "norm2": RMSNorm(cfg.dim),
                "up": nn.Linear(cfg.dim, 2 * cfg.dim), "down": nn.Linear(2 * cfg.dim, cfg.dim),
            })
            for _ in range(cfg.n_layers)
        )
        self.norm = RMSNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab_size, bias=False)
        self.register_buffer("freqs", rope_table(cfg), persistent=False)

    def forward(self, ids, cache):
        start = len(cache)
        freqs = self.freqs[start:start + ids.size(0)]
        x = self.embed(ids)
        for layer, lc in zip(self.layers, cache.layers):
            x = x + layer["attn"](layer["norm1"](x), freqs, lc)
            x = x + layer["down"](F.silu(layer["up"](layer["norm2"](x))))
        return self.head(self.norm(x[-1]))
