import numpy as np
import torch
from torch.utils.data import Dataset


def _left_pad(seq, maxlen):
    out = np.zeros(maxlen, dtype=np.int64)
    seq = seq[-maxlen:]
    if len(seq):
        out[-len(seq):] = seq
    return out


class SequenceDataset(Dataset):
    def __init__(self, train, num_items, maxlen, seed=0):
        self.users = sorted(train)
        self.train = train
        self.num_items = num_items
        self.maxlen = maxlen
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.users)

    def _negative(self, seen):
        t = int(self.rng.integers(1, self.num_items + 1))
        while t in seen:
            t = int(self.rng.integers(1, self.num_items + 1))
        return t

    def __getitem__(self, i):
        items = self.train[self.users[i]]
        seen = set(items)
        seq = _left_pad(items[:-1], self.maxlen)
        pos = _left_pad(items[1:], self.maxlen)
        neg = np.array([self._negative(seen) if p else 0 for p in pos], dtype=np.int64)
        return torch.from_numpy(seq), torch.from_numpy(pos), torch.from_numpy(neg)


class EvalDataset(Dataset):
    def __init__(self, train, target, maxlen):
        self.users = sorted(train)
        self.train = train
        self.target = target
        self.maxlen = maxlen

    def __len__(self):
        return len(self.users)

    def __getitem__(self, i):
        u = self.users[i]
        return u, torch.from_numpy(_left_pad(self.train[u], self.maxlen)), self.target[u]
