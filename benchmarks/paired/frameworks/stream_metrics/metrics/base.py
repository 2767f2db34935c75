import torch
from torch import nn


class Metric(nn.Module):
    """Keeps its running totals as non-persistent buffers, so that it can be
    moved with .to(), and brings them back to their defaults with reset()."""

    def __init__(self):
        super().__init__()
        self._defaults = {}

    def add_state(self, name: str, default: torch.Tensor):
        self._defaults[name] = default.detach().clone()
        self.register_buffer(name, default, persistent=False)

    def reset(self):
        for name, default in self._defaults.items():
            current = getattr(self, name)
            setattr(self, name, default.to(current.device, copy=True))

    def update(self, logits, target):
        raise NotImplementedError

    def compute(self):
        raise NotImplementedError


class MetricGroup(nn.ModuleDict):
    def reset(self):
        for metric in self.values():
            metric.reset()

    @torch.no_grad()
    def observe(self, logits, target):
        for metric in self.values():
            metric.update(logits, target)

    def compute(self):
        return {name: metric.compute() for name, metric in self.items()}
