import torch
import torch.nn as nn
from torch.distributions import Normal


class GaussianPolicy(nn.Module):
    def __init__(self, state_dim, action_dim, hidden_dim):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(state_dim, hidden_dim), nn.Tanh(), nn.Linear(hidden_dim, action_dim))
        self.log_std = nn.Parameter(torch.full((action_dim,), -0.5))

    def forward(self, state):
        return Normal(self.mean(state), self.log_std.exp())

    def log_prob(self, state, action):
        return self(state).log_prob(action).sum(1, keepdim=True)
