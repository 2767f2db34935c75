import numpy as np
import torch
import torch.utils.data as data


class MixDataset(data.Dataset):
    """Two speakers are two amplitude modulated harmonic tones of different length."""

    def __init__(self, n, seed, sample_rate=800):
        rng = np.random.RandomState(seed)
        self.items = []
        for _ in range(n):
            length = rng.randint(240, 400)
            t = np.arange(length) / sample_rate
            srcs = []
            for lo, hi in ((30, 60), (120, 200)):
                f0 = rng.uniform(lo, hi)
                env = 0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(1, 4) * t + rng.rand())
                srcs.append(env * np.sin(2 * np.pi * f0 * t))
            srcs = np.stack(srcs)
            self.items.append((srcs.sum(0), srcs))

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


def _collate_fn(batch):
    mixtures, sources = zip(*batch)
    ilens = np.array([mix.shape[0] for mix in mixtures])
    mixtures_pad = pad_list([torch.from_numpy(mix).float() for mix in mixtures])
    sources_pad = pad_list([torch.from_numpy(s.T.copy()).float() for s in sources])
    return mixtures_pad, torch.from_numpy(ilens), sources_pad.permute((0, 2, 1)).contiguous()


def pad_list(xs, pad_value=0):
    max_len = max(x.size(0) for x in xs)
    pad = xs[0].new(len(xs), max_len, *xs[0].size()[1:]).fill_(pad_value)
    for i in range(len(xs)):
        pad[i, :xs[i].size(0)] = xs[i]
    return pad


def get_loader(n, seed, batch_size, shuffle=False):
    return data.DataLoader(MixDataset(n, seed), batch_size=batch_size, shuffle=shuffle, collate_fn=_collate_fn)
