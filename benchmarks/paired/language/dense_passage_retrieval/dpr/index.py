from __future__ import annotations

from typing import Iterable

import torch
from torch import Tensor


class FlatIndex:
    """Exact inner product search. Vectors are kept in host memory and scored in chunks."""

    def __init__(self, dim: int, chunk_size: int = 64) -> None:
        self.dim = dim
        self.chunk_size = chunk_size
        self._parts: list[Tensor] = []

    def add(self, vectors: Tensor) -> None:
        assert vectors.dim() == 2 and vectors.size(1) == self.dim
        self._parts.append(vectors.detach().cpu())

    @property
    def vectors(self) -> Tensor:
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts)]
        return self._parts[0]

    def __len__(self) -> int:
        return sum(p.size(0) for p in self._parts)

    def _chunks(self) -> Iterable[tuple[int, Tensor]]:
        for start in range(0, len(self), self.chunk_size):
            yield start, self.vectors[start:start + self.chunk_size]

    def search(self, queries: Tensor, k: int) -> tuple[Tensor, Tensor]:
        best_scores = queries.new_full((queries.size(0), k), float("-inf"))
        best_ids = torch.full((queries.size(0), k), -1, dtype=torch.long, device=queries.device)
        for start, chunk in self._chunks():
            scores = queries @ chunk.to(queries.device).T
            ids = torch.arange(start, start + chunk.size(0), device=queries.device).expand_as(scores)
            scores = torch.cat([best_scores, scores], dim=1)
            ids = torch.cat([best_ids, ids], dim=1)
            best_scores, pos = scores.topk(k, dim=1)
            best_ids = ids.gather(1, pos)
        return best_scores, best_ids
