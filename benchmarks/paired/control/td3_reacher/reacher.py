import numpy as np


class Reacher1D:
    state_dim = 3
    action_dim = 1
    max_action = 2.0

    def __init__(self, seed=0, horizon=30):
        self.rng = np.random.RandomState(seed)
        self.horizon = horizon

    def reset(self):
        self.t = 0
        self.x, self.v = self.rng.randn(), 0.0
        self.goal = self.rng.uniform(-1, 1)
        return self.state()

    def state(self):
        return np.array([self.x, self.v, self.goal])

    def step(self, action):
        self.v = 0.9 * self.v + 0.1 * float(action[0])
        self.x += 0.2 * self.v
        self.t += 1
        return self.state(), -abs(self.x - self.goal), self.t >= self.horizon
