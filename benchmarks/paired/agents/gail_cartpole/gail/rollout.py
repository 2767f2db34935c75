from dataclasses import dataclass

import numpy as np
import torch


@dataclass
class Rollout:
    obs: torch.Tensor       # (T, N, obs_dim)
    act: torch.Tensor       # (T, N)
    done: torch.Tensor      # (T, N)
    last_obs: torch.Tensor  # (N, obs_dim)

    def flat(self):
        return self.obs.flatten(0, 1), self.act.flatten(0, 1)

    def to(self, device):
        return Rollout(self.obs.to(device), self.act.to(device), self.done.to(device), self.last_obs.to(device))


class Collector:
    """Steps the environments with a copy of the policy that lives next to the simulator."""

    def __init__(self, env, actor):
        self.env = env
        self.actor = actor
        self.obs = env.reset()
        self.lengths = []

    def sync(self, policy):
        self.actor.load_state_dict(policy.state_dict())

    @torch.no_grad()
    def collect(self, steps):
        obs_l, act_l, done_l = [], [], []
        for _ in range(steps):
            a = self.actor.dist(torch.from_numpy(self.obs)).sample()
            nxt, done, length = self.env.step(a.numpy())
            obs_l.append(torch.from_numpy(self.obs))
            act_l.append(a)
            done_l.append(torch.from_numpy(done.astype(np.float32)))
            self.lengths.extend(length[done].tolist())
            self.obs = nxt
        return Rollout(torch.stack(obs_l), torch.stack(act_l), torch.stack(done_l), torch.from_numpy(self.obs))
