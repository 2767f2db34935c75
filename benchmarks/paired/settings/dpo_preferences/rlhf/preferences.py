"""Synthetic preferences: the annotator likes completions that keep climbing."""
import torch
from torch.utils.data import Dataset

VOCAB, PROMPT, COMPLETION = 16, 3, 5


def reward(ids):
    """(B, T) -> (B,), counts the steps in the completion that go up by one"""
    up = (ids[:, 1:] - ids[:, :-1]) % VOCAB == 1
    return up[:, PROMPT - 1:].float().sum(1)


class Preferences(Dataset):
    def __init__(self, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        prompts = torch.randint(VOCAB, (n, 1, PROMPT), generator=g).expand(-1, 2, -1)
        noise = torch.randint(VOCAB, (n, 2, COMPLETION), generator=g)
        climb = (prompts[..., -1:] + 1 + torch.arange(COMPLETION)) % VOCAB
        keep = torch.rand(n, 2, COMPLETION, generator=g) < torch.tensor([0.7, 0.3]).view(1, 2, 1)
        full = torch.cat([prompts, torch.where(keep, climb, noise)], 2)
        r = torch.stack([reward(full[:, 0]), reward(full[:, 1])], 1)
        order = r.argsort(1, descending=True)
        self.pairs = full.gather(1, order.unsqueeze(-1).expand_as(full))
        self.gap = (r.max(1).values - r.min(1).values)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return {"chosen": self.pairs[i, 0], "rejected": self.pairs[i, 1], "gap": self.gap[i]}
