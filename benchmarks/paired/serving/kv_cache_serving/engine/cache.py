from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional

import torch


@dataclass
class LayerCache:
    k: Optional[torch.Tensor] = None
    v: Optional[torch.Tensor] = None

    def append(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=1)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=1)
        return self.k, self.v


@dataclass
class PagedOut:
    """Host copy of a preempted sequence."""

    pages: List[LayerCache]
    length: int

    def nbytes(self) -> int:
        return sum(t.numel() * t.element_size() for p in self.pages for t in (p.k, p.v))


@dataclass
class SequenceCache:
    n_layers: int
    layers: List[LayerCache] = field(default_factory=list)

    def __post_init__(self):
        if not self.layers:
            self.layers = [LayerCache() for _ in range(self.n_layers)]

    def __len__(self):
        k = self.layers[0].k
        return 0 if k is None else k.size(1)

    def swap_out(self) -> PagedOut:
        pages = [LayerCache(layer.k.cpu(), layer.v.cpu()) for layer in self.layers]
        return PagedOut(pages, len(self))

    @classmethod
    def swap_in(cls, paged: PagedOut, device) -> "SequenceCache":
        cache = cls(len(paged.pages))
        for layer, page in zip(cache.layers, paged.pages):
            k, v = page.k, page.v
            k = k.to(device, non_blocking=True)
            v = v.to(device, non_blocking=True)
            layer.k, layer.v = k, v
        return cache
