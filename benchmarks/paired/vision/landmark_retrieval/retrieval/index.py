import numpy as np
import torch


class FeatureIndex:
    """Brute-force cosine index. Rows are collected on the host, the search runs where the query is."""

    def __init__(self, chunk=64):
        self.chunk = chunk
        self.rows = []
        self.labels = []
        self._matrix = None

    def add(self, feats, labels):
        self.rows.append(feats.detach().cpu())
        self.labels.extend(labels.tolist())
        self._matrix = None

    @property
    def matrix(self):
        if self._matrix is None:
            self._matrix = torch.cat(self.rows)
        return self._matrix

    def search(self, queries, k):
        best = None
        for start in range(0, len(self.labels), self.chunk):
            block = self.matrix[start:start + self.chunk].to(queries.device)
            sims = queries @ block.t()
            val, idx = sims.topk(min(k, sims.shape[1]), dim=1)
            idx = idx + start
            if best is not None:
                val, idx = torch.cat([best[0], val], 1), torch.cat([best[1], idx], 1)
                val, order = val.topk(k, dim=1)
                idx = idx.gather(1, order)
            best = (val, idx)
        return best

    def label_of(self, idx):
        return np.asarray(self.labels)[idx.cpu().numpy()]
