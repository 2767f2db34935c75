from abc import ABC, abstractmethod

import torch

REGISTRY = {}


class Strategy(ABC):
    def __init_subclass__(cls, name=None, **kw):
        super().__init_subclass__(**kw)
        if name:
            REGISTRY[name] = cls

    def __init__(self, pool, cfg):
        self.pool, self.cfg = pool, cfg

    @abstractmethod
    def query(self, model, k):
        """-> k indices into the pool"""

    @torch.no_grad()
    def predict(self, model, idx):
        """Class probabilities on the host, in the order of idx."""
        model.eval()
        out = []
        for x, _ in self.pool.loader(idx, self.cfg.batch_size):
            out.append(model(x.to(self.cfg.device)).softmax(-1).cpu())
        return torch.cat(out)

    @torch.no_grad()
    def embed(self, model, idx, device):
        model.eval()
        feats = []
        for x, _ in self.pool.loader(idx, self.cfg.batch_size):
            _, h = model(x.to(self.cfg.device), return_features=True)
            feats.append(h.to(device))
        return torch.cat(feats)
