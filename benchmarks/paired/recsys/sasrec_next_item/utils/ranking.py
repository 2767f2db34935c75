import numpy as np


class RankingMeter:
    """HR@k / NDCG@k from full rankings, kept as plain python lists."""

    def __init__(self, ks=(5, 10)):
        self.ks = ks
        self.ranks = []

    def update(self, scores, target):
        # scores: (B, num_items + 1) ndarray, target: (B,) ndarray
        tgt = scores[np.arange(len(target)), target]
        self.ranks.extend((scores > tgt[:, None]).sum(axis=1).tolist())

    def compute(self):
        ranks = np.asarray(self.ranks)
        out = {}
        for k in self.ks:
            hit = ranks < k
            out[f"HR@{k}"] = float(hit.mean())
            out[f"NDCG@{k}"] = float((hit / np.log2(ranks + 2)).mean())
        return out
