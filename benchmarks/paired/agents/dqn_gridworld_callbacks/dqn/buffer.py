from typing import NamedTuple

import torch


class Transitions(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor
    done: torch.Tensor

    def to(self, device):
        return Transitions(*(x.to(device, non_blocking=True) for x in self))


class ReplayBuffer:
    """Preallocated ring buffer in host memory."""

    def __init__(self, capacity, obs_dim):
        self.capacity = capacity
        self.obs = torch.zeros(capacity, obs_dim)
        self.next_obs = torch.zeros(capacity, obs_dim)
        self.action = torch.zeros(capacity, dtype=torch.long)
        self.reward = torch.zeros(capacity)
        self.done = torch.zeros(capacity)
        self.ptr = 0
        self.full = False

    def __len__(self):
        return self.capacity if self.full else self.ptr

    def push(self, obs, action, reward, next_obs, done):
        i = self.ptr
        self.obs[i] = torch.from_numpy(obs)
        self.next_obs[i] = torch.from_numpy(next_obs)
        self.action[i] = int(action)
        self.reward[i] = float(reward)
        self.done[i] = float(done)
        self.ptr = (i + 1) % self.capacity
        self.full = self.full or self.ptr == 0

    def sample(self, batch_size):
        idx = torch.randint(0, len(self), (batch_size,))
        return Transitions(self.obs[idx], self.action[idx], self.reward[idx], self.next_obs[idx], self.done[idx])
