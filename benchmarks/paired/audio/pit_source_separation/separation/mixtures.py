import torch
from torch.utils.data import IterableDataset

from .registry import register


@register("data", "tone_mixtures")
class ToneMixtures(IterableDataset):
    """Endless mixtures of a tone, a saw and a noise burst."""

    def __init__(self, n_src, length=512, n_items=32, seed=0):
        self.n_src, self.length, self.n_items, self.seed = n_src, length, n_items, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        t = torch.linspace(0, 1, self.length)
        for _ in range(self.n_items):
            f = 10 + 40 * torch.rand(2, generator=g)
            makers = [torch.sin(2 * torch.pi * f[0] * t), 2 * ((f[1] * t) % 1) - 1,
                      torch.randn(self.length, generator=g) * torch.exp(-4 * t)]
            order = torch.randperm(len(makers), generator=g)[: self.n_src]
            sources = torch.stack([makers[i] for i in order])
            yield sources.sum(0), sources
