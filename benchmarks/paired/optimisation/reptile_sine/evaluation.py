import torch

from adaptation import adapted
from tasks import fixed


class Probe:
    """Mean test error after adaptation on a fixed set of tasks."""

    def __init__(self, seed, count=4, shots=10, steps=5, lr=0.02):
        self.shots, self.steps, self.lr = shots, steps, lr
        self.episodes = []
        for task in fixed(seed, count):
            self.episodes.append((task.draw(shots), task.draw(50)))

    def __call__(self, model, device):
        errors = []
        for support, (x, y) in self.episodes:
            with adapted(model, [support] * self.steps, self.lr) as tuned, torch.no_grad():
                prediction = tuned(x.to(device)).cpu()
                errors.append((prediction - y).pow(2).mean())
        return torch.stack(errors).mean().item()


class EarlyStop:
    def __init__(self, patience):
        self.patience, self.best, self.since = patience, float("inf"), 0

    def __call__(self, value):
        self.since = 0 if value < self.best else self.since + 1
        self.best = min(self.best, value)
        return self.since >= self.patience
