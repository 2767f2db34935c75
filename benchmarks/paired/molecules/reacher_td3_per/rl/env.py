import numpy as np


class TwoLinkReacher:
    """Planar two-link arm, torque control, semi-implicit Euler."""

    obs_dim, act_dim = 8, 2

    def __init__(self, seed=0, dt=0.05, horizon=40):
        self.rng = np.random.default_rng(seed)
        self.dt, self.horizon = dt, horizon
        self.lengths = np.array([0.6, 0.4])

    def reset(self):
        self.q = self.rng.uniform(-np.pi, np.pi, 2)
        self.dq = np.zeros(2)
        r, a = self.rng.uniform(0.3, 0.9), self.rng.uniform(-np.pi, np.pi)
        self.goal = r * np.array([np.cos(a), np.sin(a)])
        self.t = 0
        return self._obs()

    def tip(self):
        a1, a2 = self.q[0], self.q.sum()
        return self.lengths[0] * np.array([np.cos(a1), np.sin(a1)]) + self.lengths[1] * np.array(
            [np.cos(a2), np.sin(a2)]
        )

    def _obs(self):
        return np.concatenate([np.cos(self.q), np.sin(self.q), self.dq, self.goal - self.tip()]).astype(np.float32)

    def step(self, action):
        torque = np.clip(action, -1, 1)
        self.dq = np.clip(0.95 * self.dq + self.dt * 8.0 * torque, -6, 6)
        self.q = self.q + self.dt * self.dq
        self.t += 1
        dist = np.linalg.norm(self.goal - self.tip())
        reward = -dist - 0.01 * float((torque**2).sum())
        terminated = bool(dist < 0.05)
        return self._obs(), reward + 5.0 * terminated, terminated, self.t >= self.horizon
