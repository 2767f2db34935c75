import numpy as np
import torch
from torch.utils.data import Dataset


class PhoneCorpus(Dataset):
    """Utterances of random phone strings; each phone is a noisy template of some frames."""

    def __init__(self, n_utts, n_phones=8, n_feats=10, seed=0):
        rng = np.random.RandomState(seed)
        templates = np.random.RandomState(1234).randn(n_phones + 1, n_feats)
        self.items = []
        for _ in range(n_utts):
            phones = rng.randint(1, n_phones + 1, size=rng.randint(2, 5))
            durations = rng.randint(4, 8, size=len(phones))
            frames = np.repeat(templates[phones], durations, axis=0)
            frames = frames + 0.2 * rng.randn(*frames.shape)
            self.items.append((frames.astype(np.float32), phones.astype(np.int64)))

    def num_frames(self, idx):
        return len(self.items[idx][0])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, idx):
        feats, phones = self.items[idx]
        return torch.from_numpy(feats), torch.from_numpy(phones)
