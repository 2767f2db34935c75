import numpy as np
import torch

from .base import Strategy


class KCenterGreedy(Strategy, name="coreset"):
    """Sener & Savarese, 2018. The features of the labelled set are remembered on the
    host and only refreshed for samples bought since the last call."""

    refresh_every = 2

    def __init__(self, *a, **kw):
        super().__init__(*a, **kw)
        self.calls = 0
        self.known = np.array([], dtype=int)
        self.anchor = None

    def _anchors(self, model):
        current = self.pool.labelled_idx
        if self.anchor is None or self.calls % self.refresh_every == 0:
            self.anchor = self.embed(model, current, "cpu")
        else:
            fresh = np.setdiff1d(current, self.known)
            self.anchor = torch.cat([self.anchor, self.embed(model, fresh, "cpu")])
        self.known = current
        self.calls += 1
        return self.anchor

    def query(self, model, k):
        idx = self.pool.unlabelled_idx
        feats = self.embed(model, idx, self.cfg.device)
        anchors = self._anchors(model).to(feats.device)
        dist = torch.cdist(feats, anchors).min(dim=1).values
        picked = []
        for _ in range(k):
            j = int(dist.argmax())
            picked.append(idx[j])
            dist = torch.minimum(dist, torch.cdist(feats, feats[j:j + 1]).squeeze(1))
        return np.array(picked)
