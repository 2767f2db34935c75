import torch
from torch.utils.data import DataLoader, Dataset


class IndexedBlobs(Dataset):
    """Gaussian blobs; every item carries its own index so that stored
    teacher outputs can be found again after shuffling."""

    def __init__(self, n, dim, classes, seed):
        g = torch.Generator().manual_seed(seed)
        centres = torch.randn(classes, dim, generator=torch.Generator().manual_seed(0)) * 1.5
        self.targets = torch.randint(0, classes, (n,), generator=g)
        self.inputs = centres[self.targets] + torch.randn(n, dim, generator=g)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return {"input": self.inputs[i], "target": self.targets[i], "index": i}


def make_loaders(cfg):
    train = IndexedBlobs(cfg.num_train, cfg.input_dim, cfg.num_classes, cfg.seed)
    val = IndexedBlobs(cfg.num_val, cfg.input_dim, cfg.num_classes, cfg.seed + 1)
    return (
        DataLoader(train, batch_size=cfg.batch_size, shuffle=True),
        DataLoader(train, batch_size=cfg.batch_size, shuffle=False),
        DataLoader(val, batch_size=cfg.batch_size),
    )
