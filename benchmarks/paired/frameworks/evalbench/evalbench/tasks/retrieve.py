import numpy as np
import torch

from ..registry import inference, register


@register("retrieve", items=80, batch=20, k=(1, 5))
class Retrieve:
    """Noisy copies look for their originals in a gallery."""

    def __init__(self, device, items, batch, k):
        self.device = device
        self.k = tuple(k)
        g = torch.Generator().manual_seed(12)
        self.gallery = torch.randn(items, 16, generator=g)
        self.query = self.gallery + 0.4 * torch.randn(items, 16, generator=g)
        self.batch = batch
        self._encoded = None

    def batches(self):
        index = torch.arange(len(self.query))
        for q, i in zip(self.query.split(self.batch), index.split(self.batch)):
            yield {"query": q, "truth": i}

    def _gallery(self, model):
        if self._encoded is None:
            rows = [model(g.to(self.device)) for g in self.gallery.split(self.batch)]
            self._encoded = torch.cat(rows)
        return self._encoded

    @inference
    def predict(self, model, batch):
        sims = model(batch["query"]) @ self._gallery(model).T
        top = sims.topk(max(self.k), dim=1)
        rank = (sims > sims.gather(1, batch["truth"][:, None])).sum(dim=1)
        return {"top": {"index": top.indices, "score": top.values},
                "rank": rank, "truth": batch["truth"]}

    def score(self, outputs):
        index = np.concatenate([np.asarray(o["top"]["index"]) for o in outputs])
        truth = np.concatenate([np.asarray(o["truth"]) for o in outputs])
        rank = np.concatenate([np.asarray(o["rank"]) for o in outputs])
        hit = index == truth[:, None]
        out = {f"recall@{k}": float(hit[:, :k].any(axis=1).mean()) for k in self.k}
        out["mrr"] = float((1.0 / (1 + rank)).mean())
        return out
