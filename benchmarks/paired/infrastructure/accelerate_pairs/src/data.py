import random

import torch
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    """Pairs of "product titles" (bags of token ids); positive pairs share most tokens."""

    def __init__(self, n_pairs, vocab=120, length=8, seed=0):
        rnd = random.Random(seed)
        self.items = []
        for _ in range(n_pairs):
            a = [rnd.randrange(1, vocab) for _ in range(length)]
            b = list(a)
            rnd.shuffle(b)
            for j in rnd.sample(range(length), 2):
                b[j] = rnd.randrange(1, vocab)
            self.items.append((a[: rnd.randint(5, length)], b[: rnd.randint(5, length)]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class PairCollator:
    def __init__(self, pad_id=0, max_length=8):
        self.pad_id = pad_id
        self.max_length = max_length

    def _side(self, seqs):
        ids = [s[: self.max_length] + [self.pad_id] * (self.max_length - len(s)) for s in seqs]
        return torch.tensor(ids)

    def __call__(self, examples):
        left, right = zip(*examples)
        return {"left": self._side(left), "right": self._side(right)}


def get_dataloaders(args):
    collate = PairCollator()
    train = DataLoader(PairDataset(args.train_pairs, seed=1), args.batch_size, shuffle=True,
                       collate_fn=collate, drop_last=True)
    evaluation = DataLoader(PairDataset(args.eval_pairs, seed=2), args.batch_size, collate_fn=collate)
    return train, evaluation
