import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from asr import dist

TONES = 5


class ToneCorpus(Dataset):
    """"Utterances": every label is a few frames of one feature pattern."""

    def __init__(self, n, feats=8, seed=0):
        g = torch.Generator().manual_seed(seed)
        patterns = torch.randn(TONES, feats, generator=torch.Generator().manual_seed(1))
        self.items = []
        for _ in range(n):
            labels = torch.randint(1, TONES + 1, (int(torch.randint(2, 5, (1,), generator=g)),), generator=g)
            reps = torch.randint(3, 6, labels.shape, generator=g)
            frames = patterns[labels - 1].repeat_interleave(reps, dim=0)
            self.items.append((frames + 0.2 * torch.randn(frames.shape, generator=g), labels))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    frames, labels = zip(*items)
    return (
        pad_sequence(frames, batch_first=True),
        torch.tensor([len(f) for f in frames]),
        torch.cat(labels),
        torch.tensor([len(l) for l in labels]),
    )


def loader(n, batch_size, seed, train):
    data = ToneCorpus(n, seed=seed)
    sampler = DistributedSampler(data, dist.world_size(), dist.rank(), shuffle=train, drop_last=train)
    return DataLoader(data, batch_size, sampler=sampler, collate_fn=collate)
