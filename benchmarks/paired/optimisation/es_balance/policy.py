from dataclasses import dataclass

import torch

from plant import ACTION, STATE


@dataclass(frozen=True)
class Layout:
    """How a flat vector holds the weights of a small network."""

    hidden: int

    @property
    def shapes(self):
        return [(STATE, self.hidden), (1, self.hidden), (self.hidden, ACTION)]

    @property
    def size(self):
        return sum(a * b for a, b in self.shapes)

    def split(self, flat):
        pieces = flat.split([a * b for a, b in self.shapes], dim=-1)
        return [p.reshape(*p.shape[:-1], *shape) for p, shape in zip(pieces, self.shapes)]

    def act(self, flat, states):
        """flat (population, size), states (population, episodes, STATE)"""
        w1, b1, w2 = self.split(flat)
        return torch.tanh(torch.tanh(states @ w1 + b1) @ w2).squeeze(-1)
