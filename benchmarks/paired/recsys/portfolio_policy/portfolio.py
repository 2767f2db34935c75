#!/usr/bin/env python
"""Direct portfolio optimisation: a small TCN outputs long-only weights, the loss is
the negative Sharpe ratio after linear transaction costs plus a risk penalty that uses
a shrinkage covariance refreshed every few steps (walk-forward, numpy)."""
import argparse
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Callable, List

import numpy as np
import torch
from scipy.optimize import minimize
from sklearn.covariance import ledoit_wolf
from torch import Tensor, nn


@dataclass
class Config:
    n_assets: int = 8
    n_days: int = 420
    lookback: int = 20
    window: int = 60
    batch: int = 6
    hidden: int = 16
    cost_bps: float = 10.0
    risk_aversion: float = 2.0
    cov_every: int = 5
    lr: float = 3e-3
    steps: int = 200
    seed: int = 0
    device: torch.device = field(default_factory=lambda: torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def simulate_returns(cfg: Config) -> np.ndarray:
    rng = np.random.default_rng(cfg.seed)
    beta = rng.uniform(0.4, 1.4, cfg.n_assets)
    regime = np.cumsum(rng.random(cfg.n_days) < 0.02) % 2
    market = np.where(regime, -2e-4, 6e-4) + np.where(regime, 0.016, 0.008) * rng.standard_normal(cfg.n_days)
    idio = 0.008 * rng.standard_normal((cfg.n_days, cfg.n_assets))
    for t in range(1, cfg.n_days):
        idio[t] += 0.15 * idio[t - 1]
    return (market[:, None] * beta + idio).astype(np.float32)


class CausalConv(nn.Conv1d):
    def forward(self, x: Tensor) -> Tensor:
        pad = (self.kernel_size[0] - 1) * self.dilation[0]
        return super().forward(nn.functional.pad(x, (pad, 0)))


class AllocationNet(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        h = cfg.hidden
        self.body = nn.Sequential(
            CausalConv(2 * cfg.n_assets, h, 3), nn.GELU(),
            CausalConv(h, h, 3, dilation=2), nn.GELU(),
            CausalConv(h, h, 3, dilation=4), nn.GELU(),
        )
        self.head = nn.Linear(h, cfg.n_assets)

    def forward(self, feats: Tensor) -> Tensor:      # (B, T, F) -> (B, T, N)
        z = self.body(feats.transpose(1, 2)).transpose(1, 2)
        return self.head(z).softmax(dim=-1)


def make_features(r: Tensor, lookback: int) -> Tensor:
    vol = r.unfold(0, lookback, 1).std(-1)
    mom = r.unfold(0, lookback, 1).sum(-1)
    return torch.cat([mom / (vol * lookback ** 0.5 + 1e-6), vol * 50], dim=-1)


def turnover(w: Tensor) -> Tensor:
    n = w.size(-1)
    start = torch.full((w.size(0), 1, n), 1.0 / n, device=w.device)
    held = torch.cat([start, w[:, :-1]], dim=1)
    return (w - held).abs().sum(-1)


def sharpe_loss(w: Tensor, r_next: Tensor, cov: Tensor, cfg: Config) -> Tensor:
    pnl = (w * r_next).sum(-1) - cfg.cost_bps * 1e-4 * turnover(w)
    sharpe = pnl.mean(1) / (pnl.std(1) + 1e-6)
    risk = torch.einsum("bti,ij,btj->bt", w, cov, w).mean()
    return -sharpe.mean() * 252 ** 0.5 + cfg.risk_aversion * 252 * risk


def min_variance_weights(cov: np.ndarray) -> np.ndarray:
    n = len(cov)
    res = minimize(lambda w: w @ cov @ w * 1e4, np.full(n, 1 / n), bounds=[(0, 1)] * n,
                   constraints={"type": "eq", "fun": lambda w: w.sum() - 1})
    return res.x


def sample_windows(feats: Tensor, nxt: Tensor, cfg: Config, gen: torch.Generator):
    starts = torch.randint(0, len(feats) - cfg.window, (cfg.batch,), generator=gen)
    idx = starts[:, None] + torch.arange(cfg.window)
    return feats[idx].to(cfg.device), nxt[idx].to(cfg.device), int(starts.max()) + cfg.window


def train(cfg: Config, returns: np.ndarray, split: int, callbacks: List[Callable]) -> AllocationNet:
    torch.manual_seed(cfg.seed)
    net = AllocationNet(cfg).to(cfg.device)
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
    r = torch.from_numpy(returns)
    feats = make_features(r, cfg.lookback)[:-1]
    nxt = r[cfg.lookback:]
    gen = torch.Generator().manual_seed(cfg.seed)
    cov = None
    for step in range(cfg.steps):
        x, y, end = sample_windows(feats[:split], nxt[:split], cfg, gen)
        if step % cfg.cov_every == 0:
            est, _ = ledoit_wolf(returns[:cfg.lookback + end])
            cov = torch.tensor(est, dtype=torch.float32, device=cfg.device)
        loss = sharpe_loss(net(x), y, cov, cfg)
        opt.zero_grad()
        loss.backward()
        opt.step()
        for cb in callbacks:
            cb(step, net, loss.item())
    return net


@torch.no_grad()
def backtest(net: AllocationNet, returns: np.ndarray, split: int, cfg: Config) -> dict:
    net = net.cpu().eval()
    r = torch.from_numpy(returns)
    w = net(make_features(r, cfg.lookback)[:-1][None])[0, split:].numpy()
    nxt = returns[cfg.lookback:][split:]
    mv = min_variance_weights(ledoit_wolf(returns[:cfg.lookback + split])[0])
    books = {"policy": (w * nxt).sum(1), "min_var": nxt @ mv, "equal": nxt.mean(1)}
    return {k: float(v.mean() / v.std() * 252 ** 0.5) for k, v in books.items()}


def keep_best(path: Path, every: int) -> Callable:
    best = float("inf")

    def callback(step, net, loss):
        nonlocal best
        if step % every == 0 and loss < best:
            best = loss
            torch.save(net.state_dict(), path)
            print(f"step {step:4d}  loss {loss:+.3f}  saved")
    return callback


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--steps", type=int, default=Config.steps)
    ap.add_argument("--cost-bps", type=float, default=Config.cost_bps)
    ap.add_argument("--seed", type=int, default=Config.seed)
    cfg = Config(**vars(ap.parse_args()))
    returns = simulate_returns(cfg)
    split = int(0.75 * (cfg.n_days - cfg.lookback))
    with TemporaryDirectory() as tmp:
        path = Path(tmp) / "policy.pt"
        net = train(cfg, returns, split, [keep_best(path, every=5)])
        net.load_state_dict(torch.load(path, map_location="cpu"))
    for name, s in backtest(net, returns, split, cfg).items():
        print(f"{name:>8s}  annualised sharpe {s:+.2f}")


if __name__ == "__main__":
    main()
