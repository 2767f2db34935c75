import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

AMINO = "ACDEFGHIKLMNPQRSTVWY"
PAD = len(AMINO)
IGNORE = -100
SS = "HEC"
PREFER = {"H": "AELMQKRH", "E": "VIYCWFT", "C": "GNPSD"}


def random_protein(rng):
    seq, ss = [], []
    for _ in range(rng.randint(2, 5)):
        state = rng.choices(SS, weights=(4, 2, 3))[0]
        for _ in range(rng.randint(3, 9)):
            pool = PREFER[state] if rng.random() < 0.7 else AMINO
            seq.append(AMINO.index(rng.choice(pool)))
            ss.append(SS.index(state))
    return seq, ss


class ProteinSet(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.chains = [random_protein(rng) for _ in range(n)]

    def __len__(self):
        return len(self.chains)

    def __getitem__(self, i):
        seq, ss = self.chains[i]
        return torch.tensor(seq), torch.tensor(ss)


def collate(items):
    seq, ss = zip(*items)
    return (
        pad_sequence(seq, batch_first=True, padding_value=PAD),
        pad_sequence(ss, batch_first=True, padding_value=IGNORE),
        torch.tensor([len(s) for s in seq]),
    )
