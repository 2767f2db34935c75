#!/usr/bin/env python
"""Exact Gaussian process regression, type-II maximum likelihood with Adam."""
import argparse
import math
from typing import Tuple

import torch
from torch import Tensor, nn


class Kernel(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        raise NotImplementedError


class RBF(Kernel):
    def __init__(self, input_dim: int, ard: bool = True) -> None:
        super().__init__()
        self.log_lengthscale = nn.Parameter(torch.zeros(input_dim if ard else 1))
        self.log_variance = nn.Parameter(torch.tensor(0.0))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        ls = self.log_lengthscale.exp()
        d2 = torch.cdist(a / ls, b / ls).pow(2)
        return self.log_variance.exp() * torch.exp(-0.5 * d2)


class Periodic(Kernel):
    def __init__(self, period: float = 1.0) -> None:
        super().__init__()
        self.log_period = nn.Parameter(torch.tensor(math.log(period)))
        self.log_lengthscale = nn.Parameter(torch.tensor(0.0))
        self.log_variance = nn.Parameter(torch.tensor(-0.5))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        diff = (a.unsqueeze(1) - b.unsqueeze(0)).abs().sum(-1)
        s = torch.sin(math.pi * diff / self.log_period.exp())
        return self.log_variance.exp() * torch.exp(-2 * (s / self.log_lengthscale.exp()) ** 2)


class Sum(Kernel):
    def __init__(self, *parts: Kernel) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return sum(k(a, b) for k in self.parts)


class ExactGP(nn.Module):
    def __init__(self, kernel: Kernel, jitter: float = 1e-4) -> None:
        super().__init__()
        self.kernel = kernel
        self.mean = nn.Parameter(torch.zeros(1))
        self.log_noise = nn.Parameter(torch.tensor(-2.0))
        self.jitter = jitter

    def _cholesky(self, x: Tensor) -> Tensor:
        n = x.size(0)
        k = self.kernel(x, x)
        noise = self.log_noise.exp() + self.jitter
        return torch.linalg.cholesky(k + noise * torch.eye(n, dtype=x.dtype, device=x.device))

    def neg_mll(self, x: Tensor, y: Tensor) -> Tensor:
        chol = self._cholesky(x)
        r = (y - self.mean).unsqueeze(-1)
        alpha = torch.cholesky_solve(r, chol)
        fit = 0.5 * (r * alpha).sum()
        logdet = torch.log(torch.diagonal(chol)).sum()
        return (fit + logdet + 0.5 * x.size(0) * math.log(2 * math.pi)) / x.size(0)

    @torch.no_grad()
    def predict(self, x: Tensor, y: Tensor, xs: Tensor) -> Tuple[Tensor, Tensor]:
        chol = self._cholesky(x)
        ks = self.kernel(x, xs)
        alpha = torch.cholesky_solve((y - self.mean).unsqueeze(-1), chol)
        mu = self.mean + (ks.t() @ alpha).squeeze(-1)
        v = torch.linalg.solve_triangular(chol, ks, upper=False)
        var = torch.diagonal(self.kernel(xs, xs)) - (v ** 2).sum(0)
        return mu, var.clamp_min(1e-8) + self.log_noise.exp()


def mauna_loa_like(n: int) -> Tuple[Tensor, Tensor]:
    x = torch.rand(n, 1).sort(0).values * 6
    y = 0.3 * x.squeeze(-1) + 0.7 * torch.sin(2 * math.pi * x.squeeze(-1)) + 0.1 * torch.randn(n)
    return x, y


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", type=int, default=60)
    ap.add_argument("--steps", type=int, default=25)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    args = ap.parse_args()

    torch.manual_seed(0)
    device = torch.device(args.device)
    x, y = mauna_loa_like(args.n)
    perm = torch.randperm(args.n)
    tr, te = perm[: args.n * 3 // 4], perm[args.n * 3 // 4:]
    x_tr, y_tr = x[tr].to(device), y[tr].to(device)
    x_te, y_te = x[te].to(device), y[te].to(device)

    gp = ExactGP(Sum(RBF(1), Periodic(1.0))).to(device)
    opt = torch.optim.Adam(gp.parameters(), lr=args.lr)
    for step in range(args.steps):
        opt.zero_grad()
        loss = gp.neg_mll(x_tr, y_tr)
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"step {step:3d}  nmll {loss.item():.4f}  noise {gp.log_noise.exp().item():.4f}")

    mu, var = gp.predict(x_tr, y_tr, x_te)
    rmse = (mu - y_te).pow(2).mean().sqrt()
    nlpd = -torch.distributions.Normal(mu, var.sqrt()).log_prob(y_te).mean()
    print(f"test rmse {rmse:.4f}  nlpd {nlpd:.4f}")


if __name__ == "__main__":
    main()
