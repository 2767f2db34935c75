from abc import ABC, abstractmethod

import torch
import torch.nn as nn
from torch.distributions import Independent, Normal


class Policy(nn.Module, ABC):
    def __init__(self, obs_dim):
        super().__init__()
        self.register_buffer("obs_mean", torch.zeros(obs_dim))
        self.register_buffer("obs_std", torch.ones(obs_dim))

    def set_normalizer(self, mean, std):
        self.obs_mean.copy_(mean)
        self.obs_std.copy_(std)

    def normalize(self, obs):
        return (obs - self.obs_mean) / self.obs_std

    @abstractmethod
    def dist(self, obs):
        ...

    def log_prob(self, obs, act):
        return self.dist(obs).log_prob(act)

    @torch.no_grad()
    def act(self, obs, explore=False, generator=None):
        """NumPy in, NumPy out."""
        x = torch.from_numpy(obs).to(self.obs_mean.device)
        d = self.dist(x).base_dist
        action = d.mean
        if explore:
            noise = torch.randn(action.shape, generator=generator, device=action.device, dtype=action.dtype)
            action = action + d.stddev * noise
        return action.cpu().numpy()


class GaussianMLP(Policy):
    def __init__(self, obs_dim, act_dim, hidden=(32, 32)):
        super().__init__(obs_dim)
        dims = [obs_dim, *hidden]
        self.net = nn.Sequential(*[m for a, b in zip(dims, dims[1:]) for m in (nn.Linear(a, b), nn.Tanh())])
        self.mu = nn.Linear(dims[-1], act_dim)
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))

    def dist(self, obs):
        mu = self.mu(self.net(self.normalize(obs)))
        return Independent(Normal(mu, self.log_std.clamp(-3, 1).exp().expand_as(mu)), 1)
