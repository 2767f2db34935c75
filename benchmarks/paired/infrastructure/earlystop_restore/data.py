import torch
from torch.utils.data import DataLoader, TensorDataset


def build_loaders(cfg):
    g = torch.Generator().manual_seed(0)
    z = torch.randn(cfg.rows, 3, generator=g)
    mix = torch.randn(3, cfg.features, generator=g)
    x = torch.tanh(z @ mix) + 0.05 * torch.randn(cfg.rows, cfg.features, generator=g)
    seen = (torch.rand(x.shape, generator=g) > cfg.missing).float()
    cut1, cut2 = int(0.6 * cfg.rows), int(0.8 * cfg.rows)
    parts = [slice(0, cut1), slice(cut1, cut2), slice(cut2, None)]
    return [DataLoader(TensorDataset(x[s], seen[s]), cfg.batch_size, shuffle=i == 0) for i, s in enumerate(parts)]
