"""Bootstrap particle filter for a stochastic volatility model.

    h_t = mu + phi (h_{t-1} - mu) + sigma eta_t
    y_t = exp(h_t / 2) eps_t

The parameters are estimated by a random-walk particle marginal
Metropolis-Hastings chain.
"""
from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import torch
from torch.distributions import Normal


@dataclasses.dataclass
class SVParams:
    mu: float = -0.5
    phi: float = 0.95
    sigma: float = 0.25

    def perturbed(self, scale: float) -> "SVParams":
        z = torch.randn(3).tolist()
        return SVParams(
            mu=self.mu + 4 * scale * z[0],
            phi=math.tanh(math.atanh(self.phi) + scale * z[1]),
            sigma=self.sigma * math.exp(scale * z[2]),
        )

    def log_prior(self) -> float:
        return -0.5 * self.mu ** 2 - 0.5 * math.log(self.sigma) ** 2


class FilterOutput(NamedTuple):
    loglik: torch.Tensor
    mean: torch.Tensor
    ess: torch.Tensor


class ParticleFilter:
    def __init__(self, n_particles: int, device: torch.device, threshold: float = 0.5):
        self.n = n_particles
        self.device = device
        self.threshold = threshold
        self.log_n = math.log(n_particles)

    def _initial(self, p: SVParams) -> torch.Tensor:
        stationary = p.sigma / math.sqrt(1 - p.phi ** 2)
        return p.mu + stationary * torch.randn(self.n, device=self.device)

    def _transition(self, h: torch.Tensor, p: SVParams) -> torch.Tensor:
        return p.mu + p.phi * (h - p.mu) + p.sigma * torch.randn_like(h)

    def _log_obs(self, y: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return Normal(torch.zeros_like(h), torch.exp(0.5 * h)).log_prob(y)

    def _systematic(self, w: torch.Tensor) -> torch.Tensor:
        """Systematic resampling: ancestor indices for normalised weights."""
        offset = torch.rand(1, device=self.device)
        positions = (torch.arange(self.n, device=self.device) + offset) / self.n
        cdf = torch.cumsum(w, 0)
        return torch.searchsorted(cdf, positions).clamp_(max=self.n - 1)

    @torch.no_grad()
    def run(self, y: torch.Tensor, p: SVParams) -> FilterOutput:
        h = self._initial(p)
        logw = torch.full_like(h, -self.log_n)
        loglik = y.new_zeros(())
        means, sizes = [], []
        for t in range(y.shape[0]):
            if t > 0:
                h = self._transition(h, p)
            logw = logw + self._log_obs(y[t], h)
            norm = torch.logsumexp(logw, 0)
            loglik = loglik + norm
            logw = logw - norm
            w = logw.exp()
            ess = 1.0 / w.pow(2).sum()
            means.append((w * h).sum())
            sizes.append(ess)
            if ess < self.threshold * self.n:
                h = h[self._systematic(w)]
                logw = torch.full_like(h, -self.log_n)
        return FilterOutput(loglik, torch.stack(means), torch.stack(sizes))


def simulate(T: int, p: SVParams) -> tuple[torch.Tensor, torch.Tensor]:
    h = torch.empty(T)
    h[0] = p.mu
    for t in range(1, T):
        h[t] = p.mu + p.phi * (h[t - 1] - p.mu) + p.sigma * torch.randn(())
    return torch.exp(h / 2) * torch.randn(T), h


def pmmh(pf: ParticleFilter, y: torch.Tensor, start: SVParams, iters: int) -> list[SVParams]:
    current, chain, accepted = start, [], 0
    ll = pf.run(y, current).loglik.item()
    for _ in range(iters):
        prop = current.perturbed(0.1)
        ll_prop = pf.run(y, prop).loglik.item()
        log_ratio = ll_prop + prop.log_prior() - ll - current.log_prior()
        if math.log(torch.rand(1).item()) < log_ratio:
            current, ll, accepted = prop, ll_prop, accepted + 1
        chain.append(current)
    print(f"PMMH acceptance {accepted / iters:.2f}")
    return chain


def main() -> None:
    torch.manual_seed(2)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    true = SVParams(phi=0.9, sigma=0.4)
    y, h = simulate(40, true)
    y = y.to(device)

    pf = ParticleFilter(128, device)
    out = pf.run(y, true)
    rmse = (out.mean.cpu() - h).pow(2).mean().sqrt()
    print(f"loglik {out.loglik:.2f}  min ESS {out.ess.min():.1f}  state rmse {rmse:.3f}")

    chain = pmmh(pf, y, SVParams(), iters=8)
    for name in ("mu", "phi", "sigma"):
        vals = torch.tensor([getattr(c, name) for c in chain[2:]])
        print(f"{name:>6}: {vals.mean():.3f} +- {vals.std():.3f} (true {getattr(true, name):.3f})")


if __name__ == "__main__":
    main()
