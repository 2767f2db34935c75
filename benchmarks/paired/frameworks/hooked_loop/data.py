import torch
from torch.utils.data import DataLoader, TensorDataset, random_split


def spirals(n: int, classes: int = 3, noise: float = 0.15, seed: int = 0):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(classes, (n,), generator=g)
    r = torch.rand(n, generator=g)
    angle = 4.0 * r + label * (2 * torch.pi / classes)
    angle = angle + noise * torch.randn(n, generator=g)
    points = torch.stack([r * angle.cos(), r * angle.sin()], dim=1)
    return TensorDataset(points, label)


def loaders(n: int, batch_size: int, seed: int):
    data = spirals(n, seed=seed)
    g = torch.Generator().manual_seed(seed)
    train, val = random_split(data, [0.8, 0.2], generator=g)
    pin = torch.cuda.is_available()
    return (DataLoader(train, batch_size, shuffle=True, generator=g, pin_memory=pin),
            DataLoader(val, batch_size))
