import math

import torch
from torch import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class SquashedGaussianActor(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.body = mlp(obs_dim, hidden, hidden, 2 * act_dim)
        self.register_buffer("log_std_range", torch.tensor([-5.0, 1.0]))

    def forward(self, obs, deterministic=False):
        mean, raw = self.body(obs).chunk(2, dim=-1)
        low, high = self.log_std_range
        log_std = low + 0.5 * (high - low) * (torch.tanh(raw) + 1)
        noise = torch.zeros_like(mean) if deterministic else torch.randn_like(mean)
        u = mean + log_std.exp() * noise
        action = torch.tanh(u)
        logp = -0.5 * (noise ** 2 + math.log(2 * math.pi)) - log_std
        logp = logp - torch.log(1 - action ** 2 + 1e-6)
        return action, logp.sum(-1, keepdim=True)


class TwinCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.q1 = mlp(obs_dim + act_dim, hidden, hidden, 1)
        self.q2 = mlp(obs_dim + act_dim, hidden, hidden, 1)

    def forward(self, obs, action):
        x = torch.cat([obs, action], dim=-1)
        return self.q1(x), self.q2(x)


class Temperature(nn.Module):
    def __init__(self, initial):
        super().__init__()
        self.log_alpha = nn.Parameter(torch.full((1,), math.log(initial)))

    def forward(self):
        return self.log_alpha.exp()
