import numpy as np
import torch


class Pendulum:
    """Torque-limited pendulum with (cos, sin, velocity) observations."""

    act_low, act_high = [-2.0], [2.0]
    obs_dim, act_dim = 3, 1

    def __init__(self, length=30, seed=0):
        self.length = length
        self.rng = np.random.default_rng(seed)

    def observe(self):
        return np.array([np.cos(self.th), np.sin(self.th), self.thd], dtype=np.float32)

    def reset(self):
        self.th, self.thd, self.t = self.rng.uniform(-np.pi, np.pi), self.rng.uniform(-1, 1), 0
        return self.observe()

    def step(self, u):
        u = float(np.clip(u, -2, 2)[0])
        self.thd = np.clip(self.thd + (15.0 * np.sin(self.th) + 3.0 * u) * 0.05, -8, 8)
        self.th += self.thd * 0.05
        self.t += 1
        obs = self.observe()
        return obs, reward(torch.from_numpy(obs)[None], torch.tensor([[u]])).item(), self.t >= self.length

    def random_action(self):
        return self.rng.uniform(-2, 2, size=1).astype(np.float32)


def reward(obs, act):
    angle = torch.atan2(obs[:, 1], obs[:, 0])
    return -(angle ** 2 + 0.1 * obs[:, 2] ** 2 + 0.001 * act[:, 0] ** 2)
