from collections import namedtuple

import numpy as np
import torch

Batch = namedtuple("Batch", "obs action reward next_obs done weight index")


class SumTree:
    def __init__(self, capacity):
        self.size = 1
        while self.size < capacity:
            self.size *= 2
        self.tree = np.zeros(2 * self.size)

    def set(self, idx, value):
        for i, v in zip(np.atleast_1d(idx) + self.size, np.atleast_1d(value)):
            self.tree[i] = v
            i //= 2
            while i >= 1:
                self.tree[i] = self.tree[2 * i] + self.tree[2 * i + 1]
                i //= 2

    def find(self, mass):
        i = 1
        while i < self.size:
            i *= 2
            if mass > self.tree[i]:
                mass -= self.tree[i]
                i += 1
        return i - self.size

    @property
    def total(self):
        return self.tree[1]


class PrioritizedReplay:
    """Everything lives in host memory; only sampled minibatches go to the learner."""

    def __init__(self, capacity, obs_dim, act_dim, device, alpha=0.6, beta=0.4, eps=1e-3, seed=0):
        self.capacity, self.device = capacity, device
        self.alpha, self.beta, self.eps = alpha, beta, eps
        self.obs = np.zeros((capacity, obs_dim), np.float32)
        self.next_obs = np.zeros((capacity, obs_dim), np.float32)
        self.action = np.zeros((capacity, act_dim), np.float32)
        self.reward = np.zeros((capacity, 1), np.float32)
        self.done = np.zeros((capacity, 1), np.float32)
        self.tree = SumTree(capacity)
        self.max_priority = 1.0
        self.pos = self.count = 0
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.count

    def add(self, obs, action, reward, next_obs, done):
        i = self.pos
        self.obs[i], self.action[i], self.reward[i] = obs, action, reward
        self.next_obs[i], self.done[i] = next_obs, done
        self.tree.set(i, self.max_priority**self.alpha)
        self.pos = (i + 1) % self.capacity
        self.count = min(self.count + 1, self.capacity)

    def sample(self, n):
        bounds = np.linspace(0, self.tree.total, n + 1)
        idx = np.array([self.tree.find(m) for m in self.rng.uniform(bounds[:-1], bounds[1:])])
        idx = np.minimum(idx, self.count - 1)
        prob = self.tree.tree[idx + self.tree.size] / self.tree.total
        w = (self.count * prob) ** -self.beta
        w = (w / w.max()).astype(np.float32)[:, None]
        arrays = (self.obs[idx], self.action[idx], self.reward[idx], self.next_obs[idx], self.done[idx], w)
        return Batch(*(torch.as_tensor(a).to(self.device) for a in arrays), index=idx)

    def update_priorities(self, idx, td_error):
        prio = np.abs(td_error).ravel() + self.eps
        self.tree.set(idx, prio**self.alpha)
        self.max_priority = max(self.max_priority, float(prio.max()))
