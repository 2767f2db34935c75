"""Vectorised 2-D reaching task with drag. Pure NumPy."""
import numpy as np


class ReachEnv:
    obs_dim, act_dim = 6, 2

    def __init__(self, n_envs=8, horizon=20, seed=0):
        self.n, self.horizon = n_envs, horizon
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.pos = self.rng.uniform(-1, 1, (self.n, 2))
        self.vel = np.zeros((self.n, 2))
        self.goal = self.rng.uniform(-1, 1, (self.n, 2))
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.concatenate([self.pos, self.vel, self.goal], 1).astype(np.float32)

    def step(self, action):
        a = np.clip(action, -1, 1)
        self.vel = 0.8 * self.vel + 0.15 * a
        self.pos = self.pos + self.vel
        self.t += 1
        dist = np.linalg.norm(self.pos - self.goal, axis=1)
        return self._obs(), -dist, self.t >= self.horizon


def pd_expert(obs, kp=1.4, kd=3.0):
    pos, vel, goal = obs[:, :2], obs[:, 2:4], obs[:, 4:]
    return np.clip(kp * (goal - pos) - kd * vel, -1, 1).astype(np.float32)
