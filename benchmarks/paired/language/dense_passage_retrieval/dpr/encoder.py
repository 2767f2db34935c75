from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class TextEncoder(nn.Module):
    """Embedding bag followed by a residual projection; good enough for short passages."""

    def __init__(self, vocab_size: int, dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.attn = nn.Linear(dim, 1)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        a = self.attn(x).squeeze(-1).masked_fill(ids.eq(0), -1e4).softmax(dim=-1)
        pooled = torch.einsum("bt,btd->bd", a, x)
        return F.normalize(pooled + self.proj(pooled), dim=-1)


class BiEncoder(nn.Module):
    def __init__(self, vocab_size: int, dim: int = 32, temperature: float = 0.1) -> None:
        super().__init__()
        self.question = TextEncoder(vocab_size, dim)
        self.passage = TextEncoder(vocab_size, dim)
        self.temperature = temperature

    def forward(self, q_ids: Tensor, p_ids: Tensor) -> Tensor:
        scores = self.question(q_ids) @ self.passage(p_ids).T / self.temperature
        return F.cross_entropy(scores, torch.arange(scores.size(0), device=scores.device))
