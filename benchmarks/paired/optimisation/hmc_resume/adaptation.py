import math

import torch


class StepSize:
    """Dual averaging (plain Python numbers)."""

    def __init__(self, initial, target=0.8):
        self.target, self.mu = target, math.log(10 * initial)
        self.count, self.h, self.log_bar, self.current = 0, 0.0, 0.0, initial

    def update(self, accept):
        self.count += 1
        w = 1 / (self.count + 10)
        self.h = (1 - w) * self.h + w * (self.target - accept)
        log_eps = self.mu - math.sqrt(self.count) / 0.05 * self.h
        eta = self.count ** -0.75
        self.log_bar = eta * log_eps + (1 - eta) * self.log_bar
        self.current = math.exp(log_eps)

    def final(self):
        return math.exp(self.log_bar)


class Welford:
    def __init__(self, dim, device):
        self.count = 0
        self.mean = torch.zeros(dim, device=device)
        self.m2 = torch.zeros(dim, device=device)

    def update(self, batch):
        for row in batch:
            self.count += 1
            delta = row - self.mean
            self.mean += delta / self.count
            self.m2 += delta * (row - self.mean)

    def variance(self):
        n = max(self.count, 2)
        return (n / (n + 5)) * self.m2 / (n - 1) + 1e-3 * 5 / (n + 5)

    def state_dict(self):
        return {"count": self.count, "mean": self.mean.cpu(), "m2": self.m2.cpu()}

    def load_state_dict(self, state):
        self.count = state["count"]
        self.mean.copy_(state["mean"])
        self.m2.copy_(state["m2"])
