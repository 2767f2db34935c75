import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from batch import VQABatch

ANSWERS = ["yes", "no", "two", "red", "dog"]


class SyntheticVQA(Dataset):
    """Every answer has a direction that shows up in one of the regions."""

    def __init__(self, n, region_dim=12, vocab=30, seed=0):
        g = torch.Generator().manual_seed(seed)
        directions = torch.randn(len(ANSWERS), region_dim, generator=torch.Generator().manual_seed(99))
        self.items = []
        for i in range(n):
            a = int(torch.randint(len(ANSWERS), (1,), generator=g))
            n_reg = int(torch.randint(3, 8, (1,), generator=g))
            regions = torch.randn(n_reg, region_dim, generator=g) * 0.3
            regions[int(torch.randint(n_reg, (1,), generator=g))] += directions[a]
            q_len = int(torch.randint(3, 9, (1,), generator=g))
            question = torch.randint(1, vocab, (q_len,), generator=g)
            self.items.append((question, regions, a, f"q{i}"))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def soft_scores(answer):
    target = torch.full((len(ANSWERS),), 0.02)
    target[answer] = 1.0
    return target


def collate(items):
    questions, regions, answers, ids = zip(*items)
    return VQABatch(
        question=pad_sequence(questions, batch_first=True),
        question_len=torch.tensor([len(q) for q in questions]),
        regions=list(regions),
        target=torch.stack([soft_scores(a) for a in answers]),
        ids=list(ids),
    )
