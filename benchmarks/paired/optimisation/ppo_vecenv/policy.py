import torch
from torch import nn
from torch.distributions import Independent, Normal


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, width=64):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, act_dim))
        self.critic = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, 1))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))

    def dist(self, obs):
        return Independent(Normal(self.actor(obs), self.log_std.exp()), 1)

    def value(self, obs):
        return self.critic(obs).squeeze(-1)
