from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

import torch

from .config import ModelArgs


@dataclass
class LayerCache:
    k: torch.Tensor
    v: torch.Tensor

    def update(self, start: int, xk: torch.Tensor, xv: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        bsz, seqlen = xk.shape[:2]
        self.k[:bsz, start:start + seqlen] = xk
        self.v[:bsz, start:start + seqlen] = xv
        return self.k[:bsz, :start + seqlen], self.v[:bsz, :start + seqlen]


class KVCache:
    """Static key/value buffers, one pair per layer."""

    def __init__(self, layers: List[LayerCache]):
        self.layers = layers

    @classmethod
    def allocate(cls, args: ModelArgs, batch_size: int, length: int, device=None, dtype=torch.float32) -> "KVCache":
        shape = (batch_size, length, args.kv_heads, args.head_dim)
        return cls([
            LayerCache(torch.zeros(shape, device=device, dtype=dtype), torch.zeros(shape, device=device, dtype=dtype))
            for _ in range(args.n_layers)
        ])

    def __getitem__(self, i: int) -> LayerCache:
        return self.layers[i]

    def nbytes(self) -> int:
        return sum(t.numel() * t.element_size() for c in self.layers for t in (c.k, c.v))
