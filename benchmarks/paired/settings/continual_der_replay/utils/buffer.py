from typing import Optional, Tuple

import numpy as np
import torch


def reservoir(num_seen: int, size: int, rng: np.random.Generator) -> int:
    if num_seen < size:
        return num_seen
    j = int(rng.integers(0, num_seen + 1))
    return j if j < size else -1


class Buffer:
    """Reservoir replay memory (see DER, Buzzega et al. 2020)."""

    ATTRS = ("examples", "labels", "logits", "task_ids")

    def __init__(self, size: int, seed: int = 0):
        self.size = size
        self.num_seen = 0
        self.rng = np.random.default_rng(seed)
        self.store = {}

    def __len__(self):
        return min(self.num_seen, self.size)

    @property
    def is_empty(self):
        return self.num_seen == 0

    def _allocate(self, **data):
        for name, t in data.items():
            shape = (self.size,) + tuple(t.shape[1:])
            self.store[name] = torch.zeros(shape, dtype=t.dtype)

    def add(self, **data: torch.Tensor):
        if not self.store:
            self._allocate(**data)
        n = next(iter(data.values())).shape[0]
        for i in range(n):
            slot = reservoir(self.num_seen, self.size, self.rng)
            self.num_seen += 1
            if slot < 0:
                continue
            for name, t in data.items():
                self.store[name][slot] = t[i].detach().cpu()

    def sample(self, k: int, names: Optional[Tuple[str, ...]] = None):
        k = min(k, len(self))
        choice = torch.from_numpy(self.rng.choice(len(self), size=k, replace=False))
        return tuple(self.store[n][choice] for n in (names or self.ATTRS))

    def class_histogram(self, num_classes):
        return torch.bincount(self.store["labels"][: len(self)], minlength=num_classes).numpy()
