from contextlib import contextmanager

import torch


class WeightSwapper:
    """Stochastic weight averaging with the sums in host memory, in double."""

    def __init__(self, model):
        self.model = model
        self.total = {}
        self.count = 0

    @torch.no_grad()
    def collect(self):
        for name, p in self.model.named_parameters():
            value = p.detach().to("cpu", torch.float64)
            if name in self.total:
                self.total[name] += value
            else:
                self.total[name] = value.clone()
        self.count += 1

    def _averages(self):
        for name, p in self.model.named_parameters():
            yield p, self.total[name] / self.count

    @contextmanager
    def averaged(self):
        """Inside, the model has its averaged weights; afterwards the live ones."""
        if self.count == 0:
            yield self.model
            return
        saved = []
        with torch.no_grad():
            for p, mean in self._averages():
                saved.append((p, p.detach().to("cpu", copy=True)))
                p.copy_(mean)
        try:
            yield self.model
        finally:
            with torch.no_grad():
                for p, live in saved:
                    p.copy_(live)
