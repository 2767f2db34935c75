import numpy as np


class FlatIndex:
    """Exact inner-product search over float16 vectors."""

    def __init__(self):
        self.vectors = None
        self.payload = []

    def add(self, vectors, payload):
        vectors = np.asarray(vectors, dtype=np.float16)
        self.vectors = vectors if self.vectors is None else np.concatenate([self.vectors, vectors])
        self.payload.extend(payload)

    def search(self, queries, k):
        sims = np.asarray(queries, dtype=np.float32) @ self.vectors.astype(np.float32).T
        top = np.argsort(-sims, axis=1)[:, :k]
        return np.take_along_axis(sims, top, axis=1), [[self.payload[j] for j in row] for row in top]


def recall_and_mrr(results, truth):
    hits, rr = 0, 0.0
    for found, want in zip(results, truth):
        if want in found:
            hits += 1
            rr += 1 / (found.index(want) + 1)
    return hits / len(truth), rr / len(truth)
