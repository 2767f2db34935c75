import torch
from torch.utils.data import DataLoader, TensorDataset


def get_loaders(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    protos = torch.randn(cfg.num_classes, 3, cfg.image_size, cfg.image_size, generator=g)

    def split(n):
        y = torch.randint(cfg.num_classes, (n,), generator=g)
        x = protos[y] + torch.randn(n, 3, cfg.image_size, cfg.image_size, generator=g)
        return TensorDataset(x, y)

    train = DataLoader(split(96), cfg.batch_size, shuffle=True, generator=g)
    val = DataLoader(split(40), 40)
    return train, val
