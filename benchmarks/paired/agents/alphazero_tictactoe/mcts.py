import math

import numpy as np


class MCTS:
    def __init__(self, game, evaluate, n_sims=8, c_puct=1.4, rng=None, dirichlet=0.0):
        self.game = game
        self.evaluate = evaluate
        self.n_sims = n_sims
        self.c_puct = c_puct
        self.rng = rng or np.random.default_rng()
        self.dirichlet = dirichlet
        self.P, self.N, self.W = {}, {}, {}

    def _expand(self, key, board):
        prior, value = self.evaluate(self.game.planes(board))
        prior = prior * self.game.legal(board)
        self.P[key] = prior / max(prior.sum(), 1e-8)
        self.N[key] = np.zeros(self.game.n_actions)
        self.W[key] = np.zeros(self.game.n_actions)
        return value

    def _simulate(self, board, root=False):
        result = self.game.outcome(board)
        if result is not None:
            return result
        key = board.tobytes()
        if key not in self.P:
            return self._expand(key, board)
        legal = self.game.legal(board)
        prior = self.P[key]
        if root and self.dirichlet:
            noise = np.zeros_like(prior)
            noise[legal] = self.rng.dirichlet([self.dirichlet] * int(legal.sum()))
            prior = 0.75 * prior + 0.25 * noise
        n, w = self.N[key], self.W[key]
        u = w / np.maximum(n, 1) + self.c_puct * prior * math.sqrt(n.sum() + 1) / (1 + n)
        u[~legal] = -np.inf
        a = int(u.argmax())
        value = -self._simulate(self.game.play(board, a))
        n[a] += 1
        w[a] += value
        return value

    def policy(self, board, temperature=1.0):
        for _ in range(self.n_sims):
            self._simulate(board, root=True)
        n = self.N[board.tobytes()]
        if temperature == 0:
            pi = np.zeros_like(n)
            pi[int(n.argmax())] = 1.0
            return pi
        pi = n ** (1.0 / temperature)
        return pi / pi.sum()
