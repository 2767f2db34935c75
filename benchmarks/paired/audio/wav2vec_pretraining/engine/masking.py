import numpy as np
import torch


class SpanMasker:
    """Every utterance of a batch gets the same number of masked frames."""

    def __init__(self, prob=0.5, span=3, seed=0):
        self.prob, self.span = prob, span
        self.rng = np.random.default_rng(seed)

    def __call__(self, shape):
        batch, frames = shape
        n_spans = max(1, int(self.prob * frames / self.span))
        rows = []
        for _ in range(batch):
            starts = self.rng.choice(frames - self.span, n_spans, replace=False)
            rows.append(np.unique((starts[:, None] + np.arange(self.span)).ravel()))
        n = min(len(r) for r in rows)
        mask = np.zeros((batch, frames), dtype=bool)
        for i, r in enumerate(rows):
            mask[i, self.rng.choice(r, n, replace=False)] = True
        return torch.from_numpy(mask)
