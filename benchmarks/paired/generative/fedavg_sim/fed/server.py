from collections import defaultdict

import torch


class Server:
    """FedAvgM: averages client deltas in host memory, with server momentum."""

    def __init__(self, model, device, momentum=0.5, lr=1.0):
        self.device = device
        self.model = model.to(device)
        self.momentum = momentum
        self.lr = lr
        self.velocity = {}

    def aggregate(self, updates):
        total = float(sum(n for n, _ in updates))
        mean = defaultdict(float)
        for n, delta in updates:
            for k, v in delta.items():
                mean[k] = mean[k] + v * (n / total)
        return mean

    @torch.no_grad()
    def step(self, updates):
        mean = self.aggregate(updates)
        norm = 0.0
        for k, p in self.model.state_dict().items():
            v = self.velocity.get(k, torch.zeros_like(mean[k]))
            self.velocity[k] = self.momentum * v + mean[k]
            p.add_(self.velocity[k].to(p.device), alpha=self.lr)
            norm += float(self.velocity[k].pow(2).sum())
        return norm ** 0.5

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        correct = sum(
            (self.model(x.to(self.device)).argmax(1).cpu() == y).sum().item() for x, y in loader
        )
        self.model.train()
        return correct / len(loader.dataset)
