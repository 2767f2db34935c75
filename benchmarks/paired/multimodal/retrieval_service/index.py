"""A flat inner-product index.

Vectors live in host memory in fixed-size shards and are streamed to the
search device; the small per-row bookkeeping stays on the search device.
"""
from collections import OrderedDict

import torch


class ShardCache:
    def __init__(self, device, capacity=2):
        self.device = device
        self.capacity = capacity
        self._items = OrderedDict()

    def fetch(self, key, host_tensor):
        if key in self._items:
            self._items.move_to_end(key)
            return self._items[key]
        resident = host_tensor.to(self.device)
        self._items[key] = resident
        if len(self._items) > self.capacity:
            self._items.popitem(last=False)
        return resident

    def drop(self, key):
        self._items.pop(key, None)


class FlatIndex:
    def __init__(self, dim, device, shard_rows=128):
        self.dim = dim
        self.device = torch.device(device)
        self.shard_rows = shard_rows
        self.shards = []
        self.keys = []
        self.alive = torch.empty(0, dtype=torch.bool, device=self.device)
        self.cache = ShardCache(self.device)

    def __len__(self):
        return int(self.alive.sum())

    def add(self, keys, vectors):
        assert vectors.shape == (len(keys), self.dim)
        self.keys.extend(keys)
        self.alive = torch.cat([self.alive, torch.ones(len(keys), dtype=torch.bool, device=self.device)])
        pending = vectors.detach().cpu()
        while len(pending):
            if not self.shards or len(self.shards[-1]) == self.shard_rows:
                self.shards.append(pending.new_empty(0, self.dim))
            room = self.shard_rows - len(self.shards[-1])
            self.shards[-1] = torch.cat([self.shards[-1], pending[:room]])
            self.cache.drop(len(self.shards) - 1)
            pending = pending[room:]

    def remove(self, keys):
        """Tombstone the given keys; returns how many rows were hit."""
        doomed = set(keys)
        rows = [i for i, k in enumerate(self.keys) if k in doomed]
        flags = self.alive.cpu().numpy()
        flags[rows] = False
        self.alive = torch.from_numpy(flags).to(self.device)
        return len(rows)

    def search(self, queries, k=5):
        queries = queries.to(self.device)
        best_s = queries.new_full((len(queries), k), float("-inf"))
        best_i = torch.full((len(queries), k), -1, dtype=torch.long, device=self.device)
        for number, shard in enumerate(self.shards):
            base = number * self.shard_rows
            scores = queries @ self.cache.fetch(number, shard).t()
            live = self.alive[base : base + len(shard)]
            scores = scores.masked_fill(~live, float("-inf"))
            top_s, top_i = scores.topk(min(k, scores.shape[1]), dim=1)
            all_s = torch.cat([best_s, top_s], dim=1)
            all_i = torch.cat([best_i, top_i + base], dim=1)
            best_s, keep = all_s.topk(k, dim=1)
            best_i = all_i.gather(1, keep)
        return best_s.cpu(), best_i.cpu()

    def names(self, rows):
        return [[self.keys[i] for i in row if i >= 0] for row in rows.tolist()]
