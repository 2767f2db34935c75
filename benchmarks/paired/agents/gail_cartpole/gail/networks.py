import torch
import torch.nn.functional as F
from torch import nn


def mlp(*sizes, act=nn.Tanh):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(act())
    return nn.Sequential(*layers)


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=32):
        super().__init__()
        self.actor = mlp(obs_dim, hidden, n_actions)
        self.critic = mlp(obs_dim, hidden, 1)

    def dist(self, obs):
        return torch.distributions.Categorical(logits=self.actor(obs))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class Discriminator(nn.Module):
    """D(s, a): high logit means 'looks like the expert'."""

    def __init__(self, obs_dim, n_actions, hidden=32):
        super().__init__()
        self.n_actions = n_actions
        self.net = mlp(obs_dim + n_actions, hidden, 1, act=nn.LeakyReLU)
        self.register_buffer("obs_scale", torch.tensor([2.0, 1.0, 5.0, 1.0]))

    def encode(self, obs, act):
        return torch.cat([obs * self.obs_scale, F.one_hot(act, self.n_actions).float()], dim=1)

    def forward(self, sa):
        return self.net(sa).squeeze(1)

    @torch.no_grad()
    def reward(self, obs, act):
        return F.softplus(self(self.encode(obs, act)))
