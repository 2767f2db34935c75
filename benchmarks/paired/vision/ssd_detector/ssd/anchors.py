import itertools
import math
from typing import List, Sequence, Tuple

import torch
from torch import Tensor


class AnchorGenerator:
    """Default boxes in centre form (cx, cy, w, h), relative to the image."""

    def __init__(self, scales: Sequence[float], ratios: Sequence[float] = (1.0, 2.0, 0.5)):
        self.scales = scales
        self.ratios = ratios
        self._cache = {}

    @property
    def per_cell(self) -> int:
        return len(self.ratios)

    def _level(self, size: Tuple[int, int], scale: float) -> List[List[float]]:
        rows, cols = size
        boxes = []
        for i, j in itertools.product(range(rows), range(cols)):
            for r in self.ratios:
                boxes.append([(j + 0.5) / cols, (i + 0.5) / rows, scale * math.sqrt(r), scale / math.sqrt(r)])
        return boxes

    def __call__(self, feature_maps: Sequence[Tensor]) -> Tensor:
        key = tuple(tuple(f.shape[-2:]) for f in feature_maps)
        if key not in self._cache:
            boxes = []
            for size, scale in zip(key, self.scales):
                boxes += self._level(size, scale)
            self._cache[key] = torch.tensor(boxes, device=feature_maps[0].device).clamp(0, 1)
        return self._cache[key]
