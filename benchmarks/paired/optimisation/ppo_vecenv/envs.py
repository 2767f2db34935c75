"""Vectorised environment; as in many fast simulators, the arrays are reused at every step."""
import numpy as np


class PointMass:
    obs_dim, act_dim = 6, 2

    def __init__(self, count, horizon=32, seed=0):
        self.count, self.horizon = count, horizon
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros((count, 4), dtype=np.float32)
        self.goal = np.zeros((count, 2), dtype=np.float32)
        self.age = np.zeros(count, dtype=np.int64)
        self.obs = np.zeros((count, self.obs_dim), dtype=np.float32)
        self.reward = np.zeros(count, dtype=np.float32)
        self.done = np.zeros(count, dtype=np.float32)

    def _reset(self, which):
        n = int(which.sum())
        self.state[which] = 0
        self.state[which, :2] = self.rng.uniform(-1, 1, (n, 2))
        self.goal[which] = self.rng.uniform(-1, 1, (n, 2))
        self.age[which] = self.rng.integers(0, self.horizon // 2, n)

    def _write(self):
        self.obs[:, :4] = self.state
        self.obs[:, 4:] = self.goal - self.state[:, :2]

    def reset(self):
        self._reset(np.ones(self.count, dtype=bool))
        self._write()
        return self.obs

    def step(self, action):
        self.state[:, 2:] = 0.8 * self.state[:, 2:] + 0.1 * np.clip(action, -2, 2)
        self.state[:, :2] += self.state[:, 2:]
        self.age += 1
        distance = np.linalg.norm(self.goal - self.state[:, :2], axis=1)
        self.reward[:] = -distance - 0.01 * np.square(action).sum(1)
        self.done[:] = self.age >= self.horizon
        if self.done.any():
            self._reset(self.done > 0)
        self._write()
        return self.obs, self.reward, self.done
