import torch


class Corpus(object):
    def __init__(self, ntokens=60, length=1500, seed=1111):
        g = torch.Generator()
        g.manual_seed(seed)
        self.ntokens = ntokens
        self.train = self._chain(length, g)
        self.valid = self._chain(length // 5, g)

    def _chain(self, n, g):
        steps = torch.randint(1, 5, (n,), generator=g)
        return torch.cumsum(steps, 0) % self.ntokens
