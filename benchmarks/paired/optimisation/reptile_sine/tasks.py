from dataclasses import dataclass

import numpy as np
import torch


@dataclass
class Task:
    amplitude: float
    phase: float
    rng: np.random.Generator

    def draw(self, n):
        x = self.rng.uniform(-4, 4, size=(n, 1))
        y = self.amplitude * np.sin(x + self.phase)
        return torch.from_numpy(x).float(), torch.from_numpy(y).float()


def stream(seed):
    rng = np.random.default_rng(seed)
    while True:
        yield Task(rng.uniform(0.5, 3.0), rng.uniform(0, np.pi), rng)


def fixed(seed, count):
    source = stream(seed)
    return [next(source) for _ in range(count)]
