import numpy as np
import torch


class VecTracker:
    """A vector of environments in which a drifting signal in odd units is to be followed."""

    obs_dim, act_dim = 3, 1

    def __init__(self, num_envs: int, seed: int = 0, horizon: int = 24):
        self.rng = np.random.default_rng(seed)
        self.num_envs, self.horizon = num_envs, horizon
        self.units = np.array([50.0, 5.0, 900.0])
        self.shift = np.array([300.0, -20.0, 0.0])

    def reset(self) -> torch.Tensor:
        self.t = 0
        self.x = self.rng.normal(size=self.num_envs)
        self.drift = self.rng.normal(size=self.num_envs) * 0.1
        return self._obs()

    def _obs(self) -> torch.Tensor:
        o = np.stack([self.x, self.drift, np.full(self.num_envs, self.t / self.horizon)], axis=1)
        return torch.as_tensor(o * self.units + self.shift, dtype=torch.float32)

    def step(self, action: np.ndarray):
        self.x = self.x + self.drift + 0.3 * np.tanh(action[:, 0])
        self.t += 1
        reward = torch.as_tensor(-self.x ** 2, dtype=torch.float32)
        done = self.t >= self.horizon
        return (self.reset() if done else self._obs()), reward, torch.full((self.num_envs,), float(done))
