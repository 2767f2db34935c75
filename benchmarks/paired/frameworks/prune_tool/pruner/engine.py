from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from .criteria import CRITERIA


@dataclass
class Plan:
    criterion: str = "magnitude"
    final: float = 0.7
    rounds: int = 3
    skip: tuple = ("head",)

    def level(self, done: int) -> float:
        """Cubic ramp from 0 to the final sparsity."""
        return self.final * (1 - (1 - done / self.rounds) ** 3)


class Pruner:
    def __init__(self, model: nn.Module, plan: Plan, seed: int = 0):
        self.model = model
        self.plan = plan
        self.rng = np.random.default_rng(seed)
        self.done = 0
        self.layers = {n: m for n, m in model.named_modules()
                       if isinstance(m, nn.Linear) and n not in plan.skip}

    def _cut(self, weight: np.ndarray, level: float) -> np.ndarray:
        """Zeroes the least important share of weight in place; gives what is kept."""
        score = CRITERIA[self.plan.criterion](weight, self.rng)
        score = np.where(weight == 0, -np.inf, score)
        count = int(round(level * weight.size))
        drop = np.argsort(score, axis=None)[:count]
        kept = np.ones(weight.size, dtype=bool)
        kept[drop] = False
        kept = kept.reshape(weight.shape)
        weight *= kept
        return kept

    @torch.no_grad()
    def advance(self):
        self.done += 1
        level = self.plan.level(self.done)
        report = {}
        for name, layer in self.layers.items():
            weight = layer.weight.detach().cpu().numpy()
            kept = self._cut(weight, level)
            layer.weight.copy_(torch.from_numpy(weight))
            report[name] = 1.0 - float(kept.mean())
        return report

    @torch.no_grad()
    def freeze_zeros(self):
        """To be called after backward: weights that are zero get no gradient."""
        for layer in self.layers.values():
            if layer.weight.grad is not None:
                layer.weight.grad.mul_(layer.weight != 0)


def sparsity(model: nn.Module) -> float:
    zero = total = 0
    for p in model.parameters():
        if p.ndim > 1:
            zero += int((p == 0).sum())
            total += p.numel()
    return zero / total
