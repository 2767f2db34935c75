from __future__ import annotations

from collections import OrderedDict

import torch


class StateCache:
    """LRU cache of prompt states. Entries live in host memory (they are many
    and small); fetch() gives them on the device of the engine."""

    def __init__(self, capacity: int, device: torch.device):
        self.capacity = capacity
        self.device = device
        self._rows: OrderedDict[tuple, torch.Tensor] = OrderedDict()
        self.hits = self.misses = 0

    def __len__(self):
        return len(self._rows)

    def store(self, key: tuple, state: torch.Tensor):
        self._rows[key] = state.detach().cpu()
        self._rows.move_to_end(key)
        while len(self._rows) > self.capacity:
            self._rows.popitem(last=False)

    def fetch(self, key: tuple):
        row = self._rows.get(key)
        if row is None:
            self.misses += 1
            return None
        self.hits += 1
        self._rows.move_to_end(key)
        return row.to(self.device)

    def longest_prefix(self, tokens: tuple):
        """(length, state) of the longest stored prefix of tokens."""
        for n in range(len(tokens), 0, -1):
            if tokens[:n] in self._rows:
                return n, self.fetch(tokens[:n])
        self.misses += 1
        return 0, None

    def nbytes(self):
        return sum(r.numel() * r.element_size() for r in self._rows.values())
