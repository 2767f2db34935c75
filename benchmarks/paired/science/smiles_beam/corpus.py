import random

import torch
from torch.nn.utils.rnn import pad_sequence

from vocab import PAD

FRAGMENTS = ["C", "CC", "C(=O)", "c1ccccc1", "N", "O", "C(F)", "C=C", "c1ccncc1", "C(N)", "C(O)"]


def make_smiles(n, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choice(FRAGMENTS) for _ in range(rng.randint(1, 3))) for _ in range(n)]


def batches(smiles, vocab, batch_size, rng):
    order = list(range(len(smiles)))
    rng.shuffle(order)
    for i in range(0, len(order), batch_size):
        seqs = [torch.tensor(vocab.encode(smiles[j])) for j in order[i:i + batch_size]]
        padded = pad_sequence(seqs, batch_first=True, padding_value=PAD)
        yield padded[:, :-1], padded[:, 1:]
