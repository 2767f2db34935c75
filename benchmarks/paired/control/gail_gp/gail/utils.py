import torch


def to_device(obj, device):
    """moves tensors in nested lists, tuples and dicts"""
    if torch.is_tensor(obj):
        return obj.to(device)
    if isinstance(obj, dict):
        return {k: to_device(v, device) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(to_device(o, device) for o in obj)
    return obj


def infinite(dataset, batch_size):
    n = len(dataset["state"])
    while True:
        order = torch.randperm(n)
        for start in range(0, n - batch_size + 1, batch_size):
            idx = order[start:start + batch_size]
            yield {k: v[idx] for k, v in dataset.items()}


class RewardFilter:
    """exponential normalisation of the rewards"""

    def __init__(self, decay=0.9):
        self.decay, self.mean, self.sq = decay, 0.0, 1.0

    def __call__(self, r):
        self.mean = self.decay * self.mean + (1 - self.decay) * r.mean().item()
        self.sq = self.decay * self.sq + (1 - self.decay) * r.pow(2).mean().item()
        return (r - self.mean) / (max(self.sq - self.mean ** 2, 1e-4) ** 0.5)
