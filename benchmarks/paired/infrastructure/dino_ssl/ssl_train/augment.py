import torch


class TwoViews:
    """Random scaling, jitter and feature dropout for tabular rows."""

    def __init__(self, jitter=0.1, drop=0.2):
        self.jitter = jitter
        self.drop = drop

    def _view(self, x):
        x = x * (1 + 0.2 * torch.randn(x.size(0), 1, device=x.device))
        x = x + self.jitter * torch.randn_like(x)
        return x * (torch.rand_like(x) > self.drop)

    def __call__(self, x):
        return self._view(x), self._view(x)
