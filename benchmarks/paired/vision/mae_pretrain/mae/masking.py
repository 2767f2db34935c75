from typing import Optional, Tuple

import torch
from torch import Tensor


class RandomMasking:
    """Per-sample random masking by shuffling; reproducible through its own generator."""

    def __init__(self, ratio: float, seed: Optional[int] = None, device="cpu"):
        self.ratio = ratio
        self.generator = None
        if seed is not None:
            self.generator = torch.Generator(device=device)
            self.generator.manual_seed(seed)

    def __call__(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        n, length, dim = x.shape
        len_keep = int(length * (1 - self.ratio))
        noise = torch.rand(n, length, device=x.device, generator=self.generator)
        ids_shuffle = noise.argsort(dim=1)
        ids_restore = ids_shuffle.argsort(dim=1)
        ids_keep = ids_shuffle[:, :len_keep]
        kept = x.gather(1, ids_keep.unsqueeze(-1).expand(-1, -1, dim))
        mask = torch.ones(n, length, device=x.device)
        mask[:, :len_keep] = 0
        return kept, mask.gather(1, ids_restore), ids_restore
