import numpy as np

from .base import Strategy


class Random(Strategy, name="random"):
    def query(self, model, k):
        return np.random.choice(self.pool.unlabelled_idx, k, replace=False)


class Margin(Strategy, name="margin"):
    def query(self, model, k):
        idx = self.pool.unlabelled_idx
        top2 = self.predict(model, idx).topk(2, dim=1).values
        margin = (top2[:, 0] - top2[:, 1]).numpy()
        return idx[np.argsort(margin)[:k]]
