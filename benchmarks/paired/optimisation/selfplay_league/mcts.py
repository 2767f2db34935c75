import math

import numpy as np

import game


class Node:
    __slots__ = ("board", "prior", "visits", "total", "children", "terminal")

    def __init__(self, board, prior):
        self.board, self.prior = board, prior
        self.visits, self.total = 0, 0.0
        self.children = {}
        self.terminal = game.outcome(board)

    @property
    def mean(self):
        return self.total / self.visits if self.visits else 0.0


class Search:
    def __init__(self, evaluate, simulations=16, c_puct=1.5, noise=0.25, rng=None):
        self.evaluate, self.simulations = evaluate, simulations
        self.c_puct, self.noise = c_puct, noise
        self.rng = rng or np.random.default_rng(0)

    def _expand(self, node, noisy=False):
        priors, value = self.evaluate(node.board)
        moves = game.legal(node.board)
        p = priors[moves]
        if noisy and self.noise:
            p = (1 - self.noise) * p + self.noise * self.rng.dirichlet([0.6] * len(moves))
        for move, prior in zip(moves, p):
            node.children[int(move)] = Node(game.play(node.board, move), float(prior))
        return value

    def _select(self, node):
        scale = self.c_puct * math.sqrt(node.visits + 1)
        return max(node.children.values(),
                   key=lambda c: -c.mean + scale * c.prior / (1 + c.visits))

    def visit_counts(self, board, noisy=True):
        root = Node(board, 1.0)
        self._expand(root, noisy)
        for _ in range(self.simulations):
            path = [root]
            while path[-1].children:
                path.append(self._select(path[-1]))
            leaf = path[-1]
            value = leaf.terminal if leaf.terminal is not None else self._expand(leaf)
            for node in reversed(path):
                node.visits += 1
                node.total += value
                value = -value
        counts = np.zeros(game.ACTIONS, dtype=np.float32)
        for move, child in root.children.items():
            counts[move] = child.visits
        return counts / counts.sum()
