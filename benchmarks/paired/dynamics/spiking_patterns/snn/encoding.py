import torch
from torch.utils.data import Dataset


class PoissonPatterns(Dataset):
    """Noisy rate patterns; spikes are drawn anew each time an item is read."""

    def __init__(self, n_items, n_in=24, n_classes=3, steps=10, seed=0):
        g = torch.Generator().manual_seed(123)
        self.templates = torch.rand(n_classes, n_in, generator=g) ** 2
        g.manual_seed(seed)
        self.labels = torch.randint(n_classes, (n_items,), generator=g)
        noise = 0.1 * torch.randn(n_items, n_in, generator=g)
        self.rates = (self.templates[self.labels] + noise).clamp(0, 1)
        self.steps = steps

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.bernoulli(self.rates[i].expand(self.steps, -1)), self.labels[i]
