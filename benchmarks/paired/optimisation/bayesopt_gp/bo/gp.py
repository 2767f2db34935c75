import math

import torch
from torch import nn


class GaussianProcess(nn.Module):
    """Exact GP, Matern-5/2 with one length scale per input."""

    def __init__(self, dim, outcome=None):
        super().__init__()
        self.log_length = nn.Parameter(torch.full((dim,), -1.0, dtype=torch.float64))
        self.log_signal = nn.Parameter(torch.zeros((), dtype=torch.float64))
        self.log_noise = nn.Parameter(torch.tensor(-4.0, dtype=torch.float64))
        self.outcome = outcome
        self._cache = None

    def kernel(self, a, b):
        length = self.log_length.exp()
        d2 = ((a.unsqueeze(-2) - b.unsqueeze(-3)) / length).pow(2).sum(-1)
        r = (5 * d2 + 1e-12).sqrt()
        return self.log_signal.exp() * (1 + r + r ** 2 / 3) * torch.exp(-r)

    def _factor(self, x):
        k = self.kernel(x, x)
        jitter = self.log_noise.exp() + 1e-6
        return torch.linalg.cholesky(k + jitter * torch.eye(len(x), dtype=x.dtype, device=x.device))

    def nll(self, x, y):
        chol = self._factor(x)
        alpha = torch.cholesky_solve(y, chol)
        return 0.5 * (y * alpha).sum() + chol.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)

    def fit(self, x, y, steps=40, lr=0.08):
        optimizer = torch.optim.Adam(self.parameters(), lr=lr)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = self.nll(x, y) + 0.05 * self.log_length.pow(2).sum()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            chol = self._factor(x)
            self._cache = (x, chol, torch.cholesky_solve(y, chol))
        return loss.item()

    def posterior(self, q):
        x, chol, alpha = self._cache
        cross = self.kernel(q, x)
        mean = cross @ alpha
        half = torch.linalg.solve_triangular(chol, cross.transpose(-1, -2), upper=False)
        variance = (self.log_signal.exp() - half.pow(2).sum(-2)).clamp_min(1e-9).unsqueeze(-1)
        if self.outcome is not None:
            mean, variance = self.outcome.undo(mean, variance)
        return mean, variance
