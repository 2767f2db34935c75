import torch
from torch.utils.data import DataLoader, TensorDataset


def spirals(settings):
    g = torch.Generator().manual_seed(settings.seed)
    label = torch.randint(settings.classes, (settings.samples,), generator=g)
    radius = torch.rand(settings.samples, generator=g)
    angle = 4 * radius + label * (2 * torch.pi / settings.classes)
    angle = angle + 0.1 * torch.randn(settings.samples, generator=g)
    plane = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    lift = torch.randn(2, settings.inputs, generator=g)
    return TensorDataset(2 * plane @ lift, label)


def loaders(settings):
    dataset = spirals(settings)
    cut = int(0.8 * len(dataset))
    train = torch.utils.data.Subset(dataset, range(cut))
    test = torch.utils.data.Subset(dataset, range(cut, len(dataset)))
    order = torch.Generator().manual_seed(settings.seed)
    return (DataLoader(train, settings.batch_size, shuffle=True, generator=order),
            DataLoader(test, settings.batch_size))
