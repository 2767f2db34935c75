import numpy as np


class Rendezvous:
    """Agents on a torus get a reward when they come close to each other."""

    MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]]) * 0.1

    def __init__(self, args, horizon=8):
        self.n = args.n_agents
        self.horizon = horizon
        self.rng = np.random.RandomState(args.seed)

    def reset(self):
        self.pos = self.rng.rand(self.n, 2)
        self.t = 0
        return self.obs()

    def obs(self):
        centre = self.pos.mean(0, keepdims=True)
        ids = np.arange(self.n)[:, None] / self.n
        return np.concatenate([self.pos, centre - self.pos, ids], axis=1).astype(np.float32)

    def step(self, actions):
        self.pos = np.clip(self.pos + self.MOVES[actions], 0, 1)
        self.t += 1
        spread = np.abs(self.pos - self.pos.mean(0)).sum()
        return self.obs(), -float(spread), self.t >= self.horizon
