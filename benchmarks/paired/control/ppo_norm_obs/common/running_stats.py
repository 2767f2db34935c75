import torch


class RunningStats:
    """Mean and variance of a stream of vectors (Chan et al.).

    The collectors run on the CPU, therefore the statistics do too.  All updates are
    in place.
    """

    def __init__(self, dim: int, eps: float = 1e-4):
        self.mean = torch.zeros(dim)
        self.var = torch.ones(dim)
        self.count = eps

    def update(self, batch: torch.Tensor) -> None:
        n = batch.shape[0]
        delta = batch.mean(0) - self.mean
        total = self.count + n
        m2 = self.var * self.count + batch.var(0, unbiased=False) * n + delta ** 2 * (self.count * n / total)
        self.mean.add_(delta * (n / total))
        self.var.copy_(m2 / total)
        self.count = total
