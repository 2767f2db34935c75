import torch


class FeatureBank:
    """Half-precision features of the whole gallery in host memory.

    The search streams the bank through the device of the queries in shards.
    """

    def __init__(self, capacity, dim, shard=32, dtype=torch.float16):
        self.features = torch.zeros(capacity, dim, dtype=dtype)
        self.labels = torch.full((capacity,), -1, dtype=torch.long)
        self.size = 0
        self.shard = shard
        if torch.cuda.is_available():
            self.features = self.features.pin_memory()

    def __len__(self):
        return self.size

    def add(self, feats, labels):
        n = feats.shape[0]
        if self.size + n > len(self.features):
            raise RuntimeError("bank is full")
        self.features[self.size : self.size + n] = feats.to(self.features)
        self.labels[self.size : self.size + n] = labels
        self.size += n

    def take(self, ids):
        """Rows of the bank for any shape of ids, as the host float32 tensor."""
        return self.features[ids.cpu()].float()

    def label_of(self, ids):
        return self.labels[ids.cpu()]

    @torch.no_grad()
    def search(self, queries, k):
        """-> (scores, ids), both on the device of the queries."""
        best_s = queries.new_full((len(queries), 0), 0)
        best_i = torch.empty(len(queries), 0, dtype=torch.long, device=queries.device)
        for start in range(0, self.size, self.shard):
            stop = min(start + self.shard, self.size)
            block = self.features[start:stop].to(queries.device, non_blocking=True).to(queries.dtype)
            s, i = (queries @ block.t()).topk(min(k, stop - start), dim=1)
            best_s = torch.cat([best_s, s], dim=1)
            best_i = torch.cat([best_i, i + start], dim=1)
            best_s, order = best_s.topk(min(k, best_s.shape[1]), dim=1)
            best_i = best_i.gather(1, order)
        return best_s, best_i
