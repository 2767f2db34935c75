from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass
class Interactions:
    train: sp.csr_matrix
    test: np.ndarray   # one held-out item per user

    @property
    def n_users(self):
        return self.train.shape[0]

    @property
    def n_items(self):
        return self.train.shape[1]

    def popularity(self, power=0.75):
        counts = np.asarray(self.train.sum(axis=0)).ravel()
        w = np.power(counts + 1e-3, power)
        return (w / w.sum()).astype(np.float32)

    def pairs(self):
        coo = self.train.tocoo()
        return coo.row.astype(np.int64), coo.col.astype(np.int64)


def synthetic(n_users=80, n_items=120, rank=4, per_user=10, seed=0):
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n_users, rank)) @ rng.normal(size=(rank, n_items))
    taste += rng.gumbel(size=taste.shape)
    order = np.argsort(-taste, axis=1)[:, : per_user + 1]
    held = np.array([rng.integers(0, per_user + 1) for _ in range(n_users)])
    test = order[np.arange(n_users), held]
    rows, cols = [], []
    for u in range(n_users):
        for i in order[u]:
            if i != test[u]:
                rows.append(u)
                cols.append(i)
    mat = sp.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, cols)), shape=(n_users, n_items))
    return Interactions(mat, test)
