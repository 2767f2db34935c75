import math

import torch
from torch import nn

from mbrl.scaler import StandardScaler


class EnsembleLinear(nn.Module):
    def __init__(self, members, fan_in, fan_out):
        super().__init__()
        bound = 1 / math.sqrt(fan_in)
        self.weight = nn.Parameter(torch.empty(members, fan_in, fan_out).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(members, 1, fan_out))

    def forward(self, x):
        return torch.baddbmm(self.bias, x, self.weight)


class EnsembleDynamics(nn.Module):
    """Predicts state differences with an ensemble of probabilistic networks."""

    def __init__(self, obs_dim, act_dim, members=3, hidden=32):
        super().__init__()
        self.members = members
        self.obs_dim = obs_dim
        self.layers = nn.Sequential(
            EnsembleLinear(members, obs_dim + act_dim, hidden), nn.SiLU(),
            EnsembleLinear(members, hidden, hidden), nn.SiLU(),
            EnsembleLinear(members, hidden, 2 * obs_dim),
        )
        self.max_logvar = nn.Parameter(torch.full((1, 1, obs_dim), 0.5))
        self.min_logvar = nn.Parameter(torch.full((1, 1, obs_dim), -6.0))

    def forward(self, x):
        if x.dim() == 2:
            x = x.expand(self.members, *x.shape)
        mean, logvar = self.layers(x).chunk(2, dim=-1)
        logvar = self.max_logvar - nn.functional.softplus(self.max_logvar - logvar)
        logvar = self.min_logvar + nn.functional.softplus(logvar - self.min_logvar)
        return mean, logvar

    def nll(self, x, y):
        mean, logvar = self(x)
        loss = ((mean - y).pow(2) * (-logvar).exp() + logvar).mean()
        return loss + 0.01 * (self.max_logvar.mean() - self.min_logvar.mean())


class WorldModel:
    """The ensemble together with the statistics of the data that it was fitted on."""

    def __init__(self, net: EnsembleDynamics, device):
        self.net = net.to(device)
        self.device = device
        self.in_scaler = None
        self.out_scaler = None

    def set_statistics(self, inputs, deltas):
        self.in_scaler = StandardScaler.fit(inputs).to(self.device)
        self.out_scaler = StandardScaler.fit(deltas).to(self.device)

    @torch.no_grad()
    def step(self, obs, act, member):
        """obs (B, O), act (B, A); one member per particle."""
        x = self.in_scaler.normalize(torch.cat([obs, act], dim=1))
        mean, logvar = self.net(x)
        pick = member.view(1, -1, 1).expand(1, -1, mean.size(-1))
        mean, logvar = mean.gather(0, pick)[0], logvar.gather(0, pick)[0]
        delta = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return obs + self.out_scaler.denormalize(delta)
