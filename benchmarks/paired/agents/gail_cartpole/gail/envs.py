import math

import numpy as np


class VecCartPole:
    """Vectorised cart-pole (classic Barto dynamics), auto-resetting."""

    obs_dim = 4
    n_actions = 2

    def __init__(self, n, max_steps=60, seed=0):
        self.n = n
        self.max_steps = max_steps
        self.rng = np.random.default_rng(seed)

    def _fresh(self, k):
        return self.rng.uniform(-0.05, 0.05, size=(k, 4)).astype(np.float32)

    def reset(self):
        self.s = self._fresh(self.n)
        self.t = np.zeros(self.n, dtype=np.int64)
        return self.s.copy()

    def step(self, a):
        x, xd, th, thd = self.s.T
        force = np.where(a == 1, 10.0, -10.0)
        cos, sin = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * thd ** 2 * sin) / 1.1
        tha = (9.8 * sin - cos * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * cos ** 2 / 1.1))
        xa = tmp - 0.05 * tha * cos / 1.1
        self.s = np.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1).astype(np.float32)
        self.t += 1
        fail = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 12 * math.pi / 180)
        done = fail | (self.t >= self.max_steps)
        length = self.t.copy()
        if done.any():
            self.s[done] = self._fresh(int(done.sum()))
            self.t[done] = 0
        return self.s.copy(), done, length
