"""Frozen opponents.  They sit in host memory so that the pool can grow."""
import copy

import numpy as np

import game
from mcts import Search
from net import Evaluator


class League:
    def __init__(self, simulations, rng, limit=8):
        self.simulations, self.rng, self.limit = simulations, rng, limit
        self.members = []

    def add(self, net, label):
        frozen = copy.deepcopy(net).cpu()
        frozen.eval().requires_grad_(False)
        self.members.append((label, frozen))
        del self.members[:-self.limit]

    def pick(self):
        return self.members[self.rng.integers(len(self.members))]

    def match(self, net, games=4):
        """Score of ``net`` against members drawn at random."""
        points = 0.0
        for number in range(games):
            _, rival = self.pick()
            searches = [Search(Evaluator(n), self.simulations, noise=0.0, rng=self.rng)
                        for n in (net, rival)]
            side = number % 2
            board, turn = game.start(), side
            while game.outcome(board) is None:
                counts = searches[turn].visit_counts(board, noisy=False)
                board = game.play(board, int(np.argmax(counts)))
                turn = 1 - turn
            value = game.outcome(board)
            points += 0.5 + 0.5 * (value if turn == 0 else -value)
        return points / games
