from dataclasses import dataclass

import torch

from kernels import KERNELS


@dataclass
class ChainConfig:
    kernel: str = "mala"
    step: float = 0.02
    burn_in: int = 20
    thin: int = 5


class ReplayBuffer:
    """Old samples, kept in host memory; hands back a share of fresh starts."""

    def __init__(self, size, dim, streams, refresh=0.05):
        self.streams = streams
        self.rows = torch.randn(size, dim, generator=streams["init"])
        self.refresh = refresh

    def draw(self, n, device):
        self.index = torch.randint(len(self.rows), (n,), generator=self.streams["pick"])
        x = self.rows[self.index]
        fresh = torch.rand(n, generator=self.streams["pick"]) < self.refresh
        x[fresh] = torch.randn(int(fresh.sum()), x.shape[1], generator=self.streams["init"])
        return x.to(device)

    def put(self, x):
        self.rows[self.index] = x.cpu()


class Chain:
    def __init__(self, energy, cfg: ChainConfig, streams):
        self.energy, self.cfg, self.streams = energy, cfg, streams
        self.move = KERNELS[cfg.kernel]

    def advance(self, x, steps):
        for _ in range(steps):
            x = self.move(self.energy, x, self.cfg.step, self.streams)
        return x

    def samples(self, x, count):
        x = self.advance(x, self.cfg.burn_in)
        for _ in range(count):
            x = self.advance(x, self.cfg.thin)
            yield x.cpu()
