"""Small synthetic images with the row number of each sample."""
import torch
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    def __init__(self, n, classes=5, size=10, seed=0, noise=0.35):
        g = torch.Generator().manual_seed(1234)
        self.prototypes = torch.rand(classes, 1, size, size, generator=g)
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(classes, (n,), generator=g)
        self.images = self.prototypes[self.labels] + noise * torch.randn(n, 1, size, size, generator=g)
        self.images.clamp_(0, 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, row):
        return {"image": self.images[row], "label": self.labels[row], "row": row}


def loader(dataset, batch_size, shuffle):
    order = torch.Generator().manual_seed(0) if shuffle else None
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, generator=order)


def move(batch, device, keep=()):
    return {name: value if name in keep else value.to(device, non_blocking=True)
            for name, value in batch.items()}


class DeviceLoader:
    """Wraps a loader; the fields in ``keep`` are left where they are."""

    def __init__(self, source, device, keep=()):
        self.source, self.device, self.keep = source, device, keep

    def __len__(self):
        return len(self.source)

    def __iter__(self):
        ahead = None
        for batch in self.source:
            if ahead is not None:
                yield ahead
            ahead = move(batch, self.device, self.keep)
        if ahead is not None:
            yield ahead
