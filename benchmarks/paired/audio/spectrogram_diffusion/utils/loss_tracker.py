import torch


class LossByStep:
    def __init__(self, steps, bins=4):
        self.steps, self.bins = steps, bins
        self.total, self.count = torch.zeros(bins), torch.zeros(bins)

    def add(self, t, loss):
        b = t * self.bins // self.steps
        self.total.index_add_(0, b, loss)
        self.count.index_add_(0, b, torch.ones_like(loss))

    def report(self):
        return (self.total / self.count.clamp_min(1)).tolist()
