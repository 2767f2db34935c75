import torch
from torch.utils.data import Dataset


class Stripes(Dataset):
    """One class per stripe period; items carry their index for the teacher cache."""

    def __init__(self, n, num_classes=5, size=12, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, num_classes, (n,), generator=g)
        phase = torch.rand(n, generator=g) * 6.28
        ax = torch.arange(size).float()
        wave = torch.sin(ax[None] * (0.5 + 0.4 * self.labels[:, None]) + phase[:, None])
        self.x = wave[:, None, None, :].repeat(1, 1, size, 1)
        self.x += 0.3 * torch.randn(self.x.shape, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"image": self.x[i], "label": int(self.labels[i]), "meta": {"index": i}}


class WithTeacher(Dataset):
    """Adds the stored teacher outputs of an item as `targets: (logits, confidence)`."""

    def __init__(self, base, logits):
        assert len(base) == len(logits) and not logits.is_cuda, "workers need host tensors"
        self.base = base
        self.logits = logits
        self.conf = logits.softmax(1).amax(1)

    def __len__(self):
        return len(self.base)

    def __getitem__(self, i):
        item = self.base[i]
        item["targets"] = (self.logits[i], self.conf[i])
        return item
