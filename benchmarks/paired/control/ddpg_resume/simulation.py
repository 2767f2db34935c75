import numpy as np


class Tank:
    """Water level control: state (level, inflow), action changes the valve."""

    obs_dim, act_dim = 3, 1

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.level, self.inflow, self.target = self.rng.uniform(0, 2), 0.5, self.rng.uniform(0.5, 1.5)
        return self.observe()

    def observe(self):
        return np.array([self.level, self.inflow, self.target], dtype=np.float32)

    def step(self, action):
        self.inflow = float(np.clip(self.inflow + 0.1 * action[0], 0, 1.5))
        self.level = max(0.0, self.level + 0.2 * (self.inflow - 0.5 * np.sqrt(max(self.level, 0))))
        return self.observe(), -abs(self.level - self.target)


class OUNoise:
    def __init__(self, dim, theta, sigma, seed):
        self.theta, self.sigma = theta, sigma
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros(dim)

    def __call__(self):
        self.state += -self.theta * self.state + self.sigma * self.rng.normal(size=self.state.shape)
        return self.state
