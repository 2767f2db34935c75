from typing import NamedTuple

import torch


class Batch(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    logp: torch.Tensor
    advantage: torch.Tensor
    returns: torch.Tensor

    def flatten(self):
        return Batch(*(t.flatten(0, 1) for t in self))

    def rows(self, index):
        return Batch(*(t[index] for t in self))


class Collector:
    def __init__(self, envs, policy, device, length=16, gamma=0.97, lam=0.95):
        self.envs, self.policy, self.device = envs, policy, device
        self.length, self.gamma, self.lam = length, gamma, lam
        self.envs.reset()

    def _tensor(self, array):
        return torch.from_numpy(array).to(self.device)

    def _storage(self, *shape):
        return torch.zeros(self.length, self.envs.count, *shape, device=self.device)

    @torch.no_grad()
    def collect(self):
        n_obs, n_act = self.envs.obs_dim, self.envs.act_dim
        obs, action = self._storage(n_obs), self._storage(n_act)
        logp, value, reward, done = (self._storage() for _ in range(4))
        for t in range(self.length):
            current = self._tensor(self.envs.obs)
            dist = self.policy.dist(current)
            chosen = dist.sample()
            obs[t] = current
            action[t], logp[t] = chosen, dist.log_prob(chosen)
            value[t] = self.policy.value(current)
            _, r, d = self.envs.step(chosen.cpu().numpy())
            reward[t], done[t] = self._tensor(r), self._tensor(d)
        last = self.policy.value(self._tensor(self.envs.obs))
        advantage = self._gae(reward, value, done, last)
        return Batch(obs, action, logp, advantage, advantage + value), reward.mean().item()

    def _gae(self, reward, value, done, last):
        advantage = torch.zeros_like(reward)
        running = torch.zeros_like(last)
        for t in reversed(range(self.length)):
            nxt = last if t == self.length - 1 else value[t + 1]
            alive = 1 - done[t]
            delta = reward[t] + self.gamma * alive * nxt - value[t]
            running = delta + self.gamma * self.lam * alive * running
            advantage[t] = running
        return advantage
