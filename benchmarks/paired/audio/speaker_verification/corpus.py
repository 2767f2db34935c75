import itertools

import torch
from torch.utils.data import Dataset, Sampler


class Voices(Dataset):
    """Every speaker has a formant profile, every utterance its own channel and length."""

    def __init__(self, n_speakers, per_speaker, n_feats=12, seed=0):
        g = torch.Generator().manual_seed(seed)
        profile = torch.randn(n_speakers, n_feats, 1, generator=g)
        self.utts, self.speakers = [], []
        for s in range(n_speakers):
            for _ in range(per_speaker):
                n = int(torch.randint(20, 40, (1,), generator=g))
                channel = 0.3 * torch.randn(n_feats, 1, generator=g)
                self.utts.append(profile[s] + channel + torch.randn(n_feats, n, generator=g))
                self.speakers.append(s)

    def __len__(self):
        return len(self.utts)

    def __getitem__(self, i):
        return self.utts[i], self.speakers[i]


def collate(items):
    lengths = torch.tensor([u.size(1) for u, _ in items])
    feats = torch.zeros(len(items), items[0][0].size(0), int(lengths.max()))
    for row, (u, _) in zip(feats, items):
        row[:, :u.size(1)] = u
    return feats, lengths, torch.tensor([s for _, s in items])


class SpeakerBalancedSampler(Sampler):
    def __init__(self, speakers, n_batches, per_batch, seed):
        self.by_speaker = {}
        for i, s in enumerate(speakers):
            self.by_speaker.setdefault(s, []).append(i)
        self.n_batches, self.per_batch = n_batches, per_batch
        self.g = torch.Generator().manual_seed(seed)

    def __len__(self):
        return self.n_batches

    def __iter__(self):
        for _ in range(self.n_batches):
            chosen = torch.randperm(len(self.by_speaker), generator=self.g)[:self.per_batch].tolist()
            yield list(itertools.chain.from_iterable(
                [pool[int(torch.randint(len(pool), (1,), generator=self.g))] for _ in range(2)]
                for pool in (self.by_speaker[s] for s in chosen)))


def make_trials(speakers, n, seed):
    g = torch.Generator().manual_seed(seed)
    speakers = torch.as_tensor(speakers)
    pairs = torch.randint(len(speakers), (n, 2), generator=g)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs, (speakers[pairs[:, 0]] == speakers[pairs[:, 1]]).long()
