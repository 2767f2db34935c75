"""Tune the noise levels of a constant-velocity tracker by gradient descent.

The likelihood of whole batches of tracks is maximised with a batched Kalman filter
in torch. What ships is a plain NumPy filter for one track at a time, so that filter
is also what model selection looks at.
"""
from __future__ import annotations

import argparse
import copy
import logging
import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

logger = logging.getLogger("kalman")


@dataclass(frozen=True)
class SimConfig:
    dt: float = 0.5
    steps: int = 25
    accel_std: float = 0.8
    meas_std: float = 1.5
    drop_prob: float = 0.1
    seed: int = 0


@dataclass
class FitConfig:
    epochs: int = 40
    batch_size: int = 16
    lr: float = 0.1
    patience: int = 4
    min_delta: float = 1e-4
    device: torch.device = field(
        default_factory=lambda: torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    )


# ------------------------------------------------------------------ simulation
def simulate(n: int, cfg: SimConfig) -> np.ndarray:
    """(n, steps, 2) measured positions, NaN where the sensor lost the target."""
    rng = np.random.default_rng(cfg.seed)
    pos = rng.normal(scale=5.0, size=(n, 2))
    vel = rng.normal(scale=1.0, size=(n, 2))
    out = np.empty((n, cfg.steps, 2), dtype=np.float32)
    for k in range(cfg.steps):
        acc = rng.normal(scale=cfg.accel_std, size=(n, 2))
        pos = pos + cfg.dt * vel + 0.5 * cfg.dt ** 2 * acc
        vel = vel + cfg.dt * acc
        out[:, k] = pos + rng.normal(scale=cfg.meas_std, size=(n, 2))
    lost = rng.random((n, cfg.steps)) < cfg.drop_prob
    lost[:, 0] = False
    out[lost] = np.nan
    return out


def transition(dt: float) -> np.ndarray:
    f = np.eye(4, dtype=np.float32)
    f[0, 2] = f[1, 3] = dt
    return f


def accel_gain(dt: float) -> np.ndarray:
    g = np.zeros((4, 2), dtype=np.float32)
    g[0, 0] = g[1, 1] = 0.5 * dt ** 2
    g[2, 0] = g[3, 1] = dt
    return g


# ------------------------------------------------------------------ torch filter
class TrackerModel(nn.Module):
    """Batched Kalman filter with learnable log standard deviations."""

    def __init__(self, dt: float):
        super().__init__()
        self.dt = dt
        self.log_accel = nn.Parameter(torch.zeros(2) - 1.0)
        self.log_meas = nn.Parameter(torch.zeros(2))
        self.register_buffer("F", torch.from_numpy(transition(dt)))
        self.register_buffer("G", torch.from_numpy(accel_gain(dt)))
        self.register_buffer("H", torch.eye(2, 4))
        self.register_buffer("P0", torch.diag(torch.tensor([4.0, 4.0, 2.0, 2.0])))

    def nll(self, z: torch.Tensor) -> torch.Tensor:
        Q = self.G @ torch.diag((2 * self.log_accel).exp()) @ self.G.T
        R = torch.diag((2 * self.log_meas).exp())
        seen = ~z.isnan().any(-1)
        z = z.nan_to_num()
        x = torch.cat([z[:, 0], torch.zeros_like(z[:, 0])], dim=-1)
        P = self.P0.expand(z.size(0), 4, 4)
        eye = torch.eye(4, device=z.device)
        total = z.new_zeros(z.size(0))
        for k in range(1, z.size(1)):
            x = x @ self.F.T
            P = self.F @ P @ self.F.T + Q
            S = self.H @ P @ self.H.T + R
            chol = torch.linalg.cholesky(S)
            r = (z[:, k] - x @ self.H.T).unsqueeze(-1)
            w = torch.cholesky_solve(r, chol)
            ll = -0.5 * (r * w).sum((1, 2)) - chol.diagonal(dim1=-2, dim2=-1).log().sum(-1) - math.log(2 * math.pi)
            K = torch.cholesky_solve(self.H @ P, chol).transpose(1, 2)
            m = seen[:, k]
            total = total - torch.where(m, ll, torch.zeros_like(ll))
            x = torch.where(m[:, None], x + (K @ r).squeeze(-1), x)
            P = torch.where(m[:, None, None], (eye - K @ self.H) @ P, P)
        return total / seen[:, 1:].sum(1).clamp(min=1)


# ------------------------------------------------------------------ deployed filter
class OnlineFilter:
    """The filter as deployed: one measurement at a time, NumPy only."""

    def __init__(self, model: TrackerModel):
        self.model = model
        self.F = transition(model.dt).astype(np.float64)
        self.G = accel_gain(model.dt).astype(np.float64)
        self.H = np.eye(2, 4)
        self.P0 = model.P0.cpu().numpy().astype(np.float64)

    def noise(self):
        log_accel = self.model.log_accel.detach().cpu().numpy()
        log_meas = self.model.log_meas.detach().cpu().numpy()
        return self.G @ np.diag(np.exp(2 * log_accel)) @ self.G.T, np.diag(np.exp(2 * log_meas))

    def innovations(self, track: np.ndarray):
        """Yields (residual, covariance) for every measurement after the first."""
        Q, R = self.noise()
        x = np.concatenate([track[0], np.zeros(2)])
        P = self.P0.copy()
        for z in track[1:]:
            x, P = self.F @ x, self.F @ P @ self.F.T + Q
            if np.isnan(z).any():
                continue
            S = self.H @ P @ self.H.T + R
            r = z - self.H @ x
            yield r, S
            K = np.linalg.solve(S, self.H @ P).T
            x, P = x + K @ r, P - K @ self.H @ P

    def score(self, tracks: np.ndarray) -> "tuple[float, float]":
        """Mean negative log likelihood and mean normalised innovation squared."""
        nll, nis = [], []
        for track in tracks:
            for r, S in self.innovations(track):
                d2 = float(r @ np.linalg.solve(S, r))
                nis.append(d2)
                nll.append(0.5 * (d2 + np.linalg.slogdet(2 * np.pi * S)[1]))
        return float(np.mean(nll)), float(np.mean(nis))


# ------------------------------------------------------------------ fitting
@dataclass
class EarlyStopping:
    patience: int
    min_delta: float
    best: float = math.inf
    bad_epochs: int = 0
    best_state: dict | None = None

    def update(self, value: float, model: nn.Module) -> bool:
        if value < self.best - self.min_delta:
            self.best, self.bad_epochs = value, 0
            self.best_state = copy.deepcopy(model.state_dict())
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience


def fit(model: TrackerModel, train: np.ndarray, val: np.ndarray, cfg: FitConfig) -> EarlyStopping:
    data = torch.from_numpy(train)
    if cfg.device.type == "cuda":
        data = data.pin_memory()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    online = OnlineFilter(model)
    stopper = EarlyStopping(cfg.patience, cfg.min_delta)

    for epoch in range(cfg.epochs):
        running = 0.0
        for idx in torch.randperm(len(data)).split(cfg.batch_size):
            z = data[idx].to(cfg.device, non_blocking=True)
            loss = model.nll(z).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        nll, nis = online.score(val)
        logger.info("epoch %2d  train %.4f  val %.4f  nis %.2f", epoch, running / len(data), nll, nis)
        if stopper.update(nll, model):
            logger.info("no progress for %d epochs, stopping", cfg.patience)
            break
    model.load_state_dict(stopper.best_state)
    return stopper


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=FitConfig.epochs)
    parser.add_argument("--tracks", type=int, default=64)
    parser.add_argument("--lr", type=float, default=FitConfig.lr)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    torch.manual_seed(0)

    sim = SimConfig()
    cfg = FitConfig(epochs=args.epochs, lr=args.lr)
    tracks = simulate(args.tracks, sim)
    n_val = max(4, args.tracks // 5)

    model = TrackerModel(sim.dt).to(cfg.device)
    stopper = fit(model, tracks[n_val:], tracks[:n_val], cfg)

    accel = model.log_accel.exp().mean().item()
    meas = model.log_meas.exp().mean().item()
    logger.info("best val %.4f", stopper.best)
    logger.info("accel std %.2f (true %.2f), meas std %.2f (true %.2f)", accel, sim.accel_std, meas, sim.meas_std)


if __name__ == "__main__":
    main()
