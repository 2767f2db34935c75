import torch
from torch.utils.data import Dataset


class AttributePairs(Dataset):
    """For each attribute the better text holds more tokens of that attribute's range."""

    def __init__(self, cfg, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        span = cfg.vocab // len(cfg.attributes)
        for i in range(n):
            k = i % len(cfg.attributes)
            length = int(torch.randint(4, 12, (1,), generator=g))
            bad = torch.randint(0, cfg.vocab, (length,), generator=g)
            good = bad.clone()
            n_marked = int(torch.randint(1, length, (1,), generator=g))
            good[:n_marked] = torch.randint(k * span, (k + 1) * span, (n_marked,), generator=g)
            self.rows.append((good, bad, cfg.attributes[k], 0.5 * n_marked / length))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    pad = lambda seqs: torch.nn.utils.rnn.pad_sequence(seqs, batch_first=True)
    chosen, rejected, attribute, margin = zip(*rows)
    return {
        "chosen": pad(chosen),
        "rejected": pad(rejected),
        "lengths": torch.tensor([len(c) for c in chosen]),
        "attribute": list(attribute),
        "margin": torch.tensor(margin),
    }
