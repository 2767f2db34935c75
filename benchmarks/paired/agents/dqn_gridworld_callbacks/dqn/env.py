import numpy as np


class GridWorld:
    """Small N x N grid. Start anywhere, reach the goal in the corner, avoid the pits."""

    MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def __init__(self, size=5, n_pits=3, max_steps=25, seed=0):
        self.size = size
        self.max_steps = max_steps
        self.rng = np.random.RandomState(seed)
        cells = [(r, c) for r in range(size) for c in range(size) if (r, c) != (size - 1, size - 1)]
        idx = self.rng.choice(len(cells), n_pits, replace=False)
        self.pits = {cells[i] for i in idx}
        self.goal = (size - 1, size - 1)
        self.n_actions = len(self.MOVES)
        self.obs_dim = 3 * size * size

    def _obs(self):
        planes = np.zeros((3, self.size, self.size), dtype=np.float32)
        planes[0][self.pos] = 1.0
        planes[1][self.goal] = 1.0
        for p in self.pits:
            planes[2][p] = 1.0
        return planes.reshape(-1)

    def reset(self):
        while True:
            pos = tuple(self.rng.randint(0, self.size, 2))
            if pos != self.goal and pos not in self.pits:
                break
        self.pos = pos
        self.t = 0
        return self._obs()

    def step(self, action):
        dr, dc = self.MOVES[action]
        r = min(max(self.pos[0] + dr, 0), self.size - 1)
        c = min(max(self.pos[1] + dc, 0), self.size - 1)
        self.pos = (r, c)
        self.t += 1
        if self.pos == self.goal:
            return self._obs(), 1.0, True
        if self.pos in self.pits:
            return self._obs(), -1.0, True
        return self._obs(), -0.01, self.t >= self.max_steps
