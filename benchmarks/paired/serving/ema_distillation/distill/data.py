import numpy as np
import torch
from torch.utils.data import Dataset, random_split


class TopicSentences(Dataset):
    """Every class prefers its own slice of the vocabulary."""

    def __init__(self, n=64, vocab=60, n_classes=3, seed=0):
        rng = np.random.default_rng(seed)
        self.n_classes, self.vocab = n_classes, vocab
        self.items = []
        width = (vocab - 1) // n_classes
        for _ in range(n):
            y = int(rng.integers(n_classes))
            length = int(rng.integers(5, 16))
            own = 1 + y * width + rng.integers(0, width, length)
            other = rng.integers(1, vocab, length)
            self.items.append((np.where(rng.random(length) < 0.6, own, other), y))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        ids, y = self.items[i]
        return torch.from_numpy(ids), y


def pad_batch(rows):
    ids = torch.nn.utils.rnn.pad_sequence([r[0] for r in rows], batch_first=True)
    return ids, torch.tensor([r[1] for r in rows])


def splits(seed=0):
    full = TopicSentences(seed=seed)
    return full, *random_split(full, [48, 16], generator=torch.Generator().manual_seed(seed))
