import torch
import torch.nn as nn
from torch.distributions import Independent, Normal


class Bijection(nn.Module):
    """forward() maps base samples to posterior samples and returns log|det J|."""

    def inverse(self, y):
        raise NotImplementedError


class Permute(Bijection):
    def __init__(self, order):
        super().__init__()
        order = torch.as_tensor(order)
        self.register_buffer("order", order)
        self.register_buffer("undo", order.argsort())

    def forward(self, x):
        return x[:, self.order], x.new_zeros(len(x))

    def inverse(self, y):
        return y[:, self.undo], y.new_zeros(len(y))


class AffineCoupling(Bijection):
    def __init__(self, dim, hidden=16, flip=False):
        super().__init__()
        mask = (torch.arange(dim) % 2 == int(flip)).float()
        self.register_buffer("mask", mask)
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, 2 * dim))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def params(self, frozen):
        log_s, t = self.net(frozen).chunk(2, dim=-1)
        free = 1 - self.mask
        return torch.tanh(log_s) * free, t * free

    def forward(self, x):
        log_s, t = self.params(x * self.mask)
        return x * log_s.exp() + t, log_s.sum(-1)

    def inverse(self, y):
        log_s, t = self.params(y * self.mask)
        return (y - t) * (-log_s).exp(), -log_s.sum(-1)


class FlowPosterior(nn.Module):
    def __init__(self, dim, layers=4, hidden=16):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(dim))
        self.log_scale = nn.Parameter(torch.full((dim,), -1.5))
        steps = []
        for k in range(layers):
            steps.append(AffineCoupling(dim, hidden, flip=bool(k % 2)))
            steps.append(Permute(torch.randperm(dim)))
        self.steps = nn.ModuleList(steps)

    @property
    def base(self):
        return Independent(Normal(self.loc, self.log_scale.exp()), 1)

    def rsample(self, n):
        z = self.base.rsample((n,))
        log_q = self.base.log_prob(z)
        for step in self.steps:
            z, ldj = step(z)
            log_q = log_q - ldj
        return z, log_q

    def log_prob(self, theta):
        total = 0.0
        for step in reversed(self.steps):
            theta, ldj = step.inverse(theta)
            total = total + ldj
        return total + self.base.log_prob(theta)
