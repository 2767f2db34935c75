import torch
from torch.utils.data import DataLoader, Dataset, random_split

KEYWORDS = ["yes", "no", "up", "down", "_silence_"]


class SyntheticCommands(Dataset):
    """Each keyword is a chirp with its own start and end pitch."""

    def __init__(self, n_items, audio_cfg, seed=0):
        self.cfg = audio_cfg
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, len(KEYWORDS), (n_items,), generator=g)
        self.jitter = torch.rand(n_items, generator=g)
        self.seed = seed

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        label = int(self.labels[idx])
        t = torch.arange(self.cfg.clip_samples) / self.cfg.sample_rate
        g = torch.Generator().manual_seed(self.seed * 100003 + idx)
        noise = 0.1 * torch.randn(t.numel(), generator=g)
        if KEYWORDS[label] == "_silence_":
            return noise, label
        f0 = 200.0 + 150.0 * label + 40.0 * self.jitter[idx]
        f1 = f0 * (1.6 if label % 2 else 0.7)
        sweep = f0 + (f1 - f0) * t / t[-1]
        return torch.sin(2 * torch.pi * sweep * t) + noise, label


def build_loaders(audio_cfg, batch_size, seed):
    full = SyntheticCommands(96, audio_cfg, seed)
    train, val = random_split(full, [64, 32], generator=torch.Generator().manual_seed(seed))
    pin = torch.cuda.is_available()
    return (DataLoader(train, batch_size, shuffle=True, pin_memory=pin),
            DataLoader(val, batch_size, pin_memory=pin))


def class_weights(dataset):
    labels = torch.tensor([y for _, y in dataset])
    counts = torch.bincount(labels, minlength=len(KEYWORDS)).float()
    return counts.sum() / (counts.clamp_min(1) * len(KEYWORDS))
