import torch


class WeightAverage:
    """Equal-weight running mean of the parameters seen so far."""

    def __init__(self, model):
        self.count = 0
        self.mean = {n: p.detach().clone() for n, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        self.count += 1
        for name, p in model.named_parameters():
            self.mean[name] += (p - self.mean[name]) / self.count

    def distance(self, model):
        total = sum((p.detach() - self.mean[n]).pow(2).sum() for n, p in model.named_parameters())
        return float(total) ** 0.5
