from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.distributions import Independent, Normal


class Bijector(nn.Module, ABC):
    @abstractmethod
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x -> z, log|det dz/dx|"""

    @abstractmethod
    def inverse(self, z: Tensor) -> Tensor:
        """z -> x"""


def mlp(din, dout, width=32):
    return nn.Sequential(nn.Linear(din, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, dout))


class AffineCoupling(Bijector):
    def __init__(self, dim: int, parity: int):
        super().__init__()
        mask = torch.arange(dim) % 2 == parity
        self.register_buffer("mask", mask.float())
        self.scale_net = mlp(dim, dim)
        self.shift_net = mlp(dim, dim)

    def _st(self, x):
        kept = x * self.mask
        s = torch.tanh(self.scale_net(kept)) * (1 - self.mask)
        t = self.shift_net(kept) * (1 - self.mask)
        return s, t

    def forward(self, x):
        s, t = self._st(x)
        return x * torch.exp(s) + t, s.sum(-1)

    def inverse(self, z):
        s, t = self._st(z)
        return (z - t) * torch.exp(-s)


class ActNorm(Bijector):
    """Data-dependent initialisation on the first batch."""

    def __init__(self, dim: int):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.register_buffer("ready", torch.tensor(False))

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.log_scale.copy_(-x.std(0).clamp_min(1e-3).log())
                self.bias.copy_(-x.mean(0) * self.log_scale.exp())
                self.ready.fill_(True)
        return x * self.log_scale.exp() + self.bias, self.log_scale.sum().expand(x.shape[0])

    def inverse(self, z):
        return (z - self.bias) * torch.exp(-self.log_scale)


class Permute(Bijector):
    def __init__(self, dim: int):
        super().__init__()
        perm = torch.randperm(dim)
        self.register_buffer("perm", perm)
        self.register_buffer("inv", torch.argsort(perm))

    def forward(self, x):
        return x[:, self.perm], x.new_zeros(x.shape[0])

    def inverse(self, z):
        return z[:, self.inv]


class StandardNormal(nn.Module):
    def __init__(self, dim: int):
        super().__init__()
        self.register_buffer("loc", torch.zeros(dim))
        self.register_buffer("scale", torch.ones(dim))

    @property
    def dist(self):
        return Independent(Normal(self.loc, self.scale), 1)

    def log_prob(self, z):
        return self.dist.log_prob(z)

    def sample(self, n):
        return self.dist.sample((n,))


class Flow(nn.Module):
    def __init__(self, base: nn.Module, layers: list[Bijector]):
        super().__init__()
        self.base = base
        self.layers = nn.ModuleList(layers)

    def log_prob(self, x):
        total = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, ld = layer(x)
            total = total + ld
        return self.base.log_prob(x) + total

    @torch.no_grad()
    def sample(self, n):
        z = self.base.sample(n)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def build_realnvp(dim: int, depth: int) -> Flow:
    layers: list[Bijector] = []
    for i in range(depth):
        layers += [ActNorm(dim), AffineCoupling(dim, i % 2), Permute(dim)]
    return Flow(StandardNormal(dim), layers)
