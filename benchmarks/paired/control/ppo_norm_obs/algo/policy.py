from typing import Optional

import torch
from torch import nn
from torch.distributions import Independent, Normal

from common.running_stats import RunningStats


class ActorCritic(nn.Module):
    def __init__(self, obs_dim: int, act_dim: int, stats: RunningStats, device: torch.device, hidden: int = 32):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, act_dim))
        self.critic = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.7))
        self.stats = stats
        self.to(device)
        self.device = device
        self.sync_stats()

    def sync_stats(self) -> None:
        self.obs_mean = self.stats.mean.to(self.device)
        self.obs_var = self.stats.var.to(self.device)

    def normalise(self, obs: torch.Tensor) -> torch.Tensor:
        obs = obs.to(self.device)
        return ((obs - self.obs_mean) / (self.obs_var + 1e-8).sqrt()).clamp(-10, 10)

    def dist(self, x: torch.Tensor) -> Independent:
        return Independent(Normal(self.actor(x), self.log_std.exp()), 1)

    def forward(self, obs: torch.Tensor, action: Optional[torch.Tensor] = None):
        x = self.normalise(obs)
        dist = self.dist(x)
        if action is None:
            action = dist.sample()
        return action, dist.log_prob(action), self.critic(x).squeeze(-1)
