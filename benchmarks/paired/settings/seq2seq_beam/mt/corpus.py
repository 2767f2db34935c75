import random

import torch
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS, FIRST = 0, 1, 2, 3
N_WORDS = 15


def translate_rule(src):
    """The 'language': reversed word order, every word shifted."""
    return [FIRST + (w - FIRST + 4) % N_WORDS for w in reversed(src)]


def parallel(n, seed, lo=3, hi=6):
    rnd = random.Random(seed)
    data = []
    for _ in range(n):
        src = [rnd.randrange(FIRST, FIRST + N_WORDS) for _ in range(rnd.randint(lo, hi))]
        data.append((src, translate_rule(src)))
    return data


def collate(pairs):
    src = pad_sequence([torch.tensor(s + [EOS]) for s, _ in pairs], batch_first=True)
    tgt = pad_sequence([torch.tensor([BOS] + t + [EOS]) for _, t in pairs], batch_first=True)
    return src, tgt


class LengthBuckets:
    """Batch sampler that groups sentences of similar length."""

    def __init__(self, pairs, batch_size, seed=0):
        self.lengths = [len(s) for s, _ in pairs]
        self.batch_size = batch_size
        self.rnd = random.Random(seed)

    def __len__(self):
        return (len(self.lengths) + self.batch_size - 1) // self.batch_size

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda i: (self.lengths[i], self.rnd.random()))
        batches = [order[i:i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        self.rnd.shuffle(batches)
        yield from batches
