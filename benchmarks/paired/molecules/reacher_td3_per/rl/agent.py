import copy

import numpy as np
import torch
import torch.nn as nn


def mlp(i, o, h=32, out=nn.Identity):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o), out())


class TwinCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.q1, self.q2 = mlp(obs_dim + act_dim, 1), mlp(obs_dim + act_dim, 1)

    def forward(self, obs, act):
        x = torch.cat([obs, act], -1)
        return self.q1(x), self.q2(x)


class TD3:
    def __init__(self, obs_dim, act_dim, device, gamma=0.97, tau=0.02, lr=1e-3, policy_delay=2):
        self.device = device
        self.gamma, self.tau, self.policy_delay = gamma, tau, policy_delay
        self.actor = mlp(obs_dim, act_dim, out=nn.Tanh).to(device)
        self.critic = TwinCritic(obs_dim, act_dim).to(device)
        self.actor_targ = copy.deepcopy(self.actor).requires_grad_(False)
        self.critic_targ = copy.deepcopy(self.critic).requires_grad_(False)
        self.opt_a = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.updates = 0

    @torch.no_grad()
    def act(self, obs, noise=0.0):
        a = self.actor(torch.as_tensor(obs, device=self.device).unsqueeze(0)).squeeze(0)
        a = a.cpu().numpy()
        return np.clip(a + noise * np.random.randn(*a.shape), -1, 1).astype(np.float32)

    @torch.no_grad()
    def _target(self, b):
        noise = (0.2 * torch.randn_like(b.action)).clamp(-0.5, 0.5)
        next_a = (self.actor_targ(b.next_obs) + noise).clamp(-1, 1)
        q = torch.min(*self.critic_targ(b.next_obs, next_a))
        return b.reward + self.gamma * (1 - b.done) * q

    def update(self, b):
        """One gradient step; returns the metrics and the TD errors of the minibatch."""
        y = self._target(b)
        q1, q2 = self.critic(b.obs, b.action)
        loss_c = (b.weight * ((q1 - y).pow(2) + (q2 - y).pow(2))).mean()
        self.opt_c.zero_grad()
        loss_c.backward()
        self.opt_c.step()
        metrics = {"critic": loss_c.item()}

        self.updates += 1
        if self.updates % self.policy_delay == 0:
            loss_a = -self.critic.q1(torch.cat([b.obs, self.actor(b.obs)], -1)).mean()
            self.opt_a.zero_grad()
            loss_a.backward()
            self.opt_a.step()
            self._polyak()
            metrics["actor"] = loss_a.item()
        return metrics, (y - q1).detach().cpu().numpy()

    @torch.no_grad()
    def _polyak(self):
        for net, targ in ((self.actor, self.actor_targ), (self.critic, self.critic_targ)):
            for p, pt in zip(net.parameters(), targ.parameters()):
                pt.lerp_(p, self.tau)

    def export(self):
        return {k: v.detach().cpu() for k, v in self.actor.state_dict().items()}
