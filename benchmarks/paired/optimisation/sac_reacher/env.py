import numpy as np


class Reacher:
    """Planar arm with two joints; the tip has to come close to a goal."""

    obs_dim, act_dim = 8, 2
    lengths = (0.6, 0.4)

    def __init__(self, horizon=40, seed=0):
        self.horizon = horizon
        self.rng = np.random.default_rng(seed)

    def tip(self):
        a, b = self.q[0], self.q.sum()
        return np.array([self.lengths[0] * np.cos(a) + self.lengths[1] * np.cos(b),
                         self.lengths[0] * np.sin(a) + self.lengths[1] * np.sin(b)])

    def observe(self):
        return np.concatenate([np.cos(self.q), np.sin(self.q), self.qd, self.goal - self.tip()])

    def reset(self):
        self.t = 0
        self.q = self.rng.uniform(-np.pi, np.pi, 2)
        self.qd = np.zeros(2)
        angle, radius = self.rng.uniform(-np.pi, np.pi), self.rng.uniform(0.3, 0.9)
        self.goal = radius * np.array([np.cos(angle), np.sin(angle)])
        return self.observe()

    def step(self, action):
        self.t += 1
        self.qd = 0.8 * self.qd + 0.4 * np.clip(action, -1, 1)
        self.q = self.q + 0.2 * self.qd
        reward = -np.linalg.norm(self.goal - self.tip()) - 0.01 * float(np.square(action).sum())
        return self.observe(), reward, self.t >= self.horizon
