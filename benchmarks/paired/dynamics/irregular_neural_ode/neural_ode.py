"""Neural ODE on irregularly sampled spirals.

Every trajectory has its own observation times, so the solver runs on one shared
grid and the solution is interpolated (cubic Hermite) at the observed times.
"""
import argparse
import itertools
from functools import partial
from typing import Callable, List, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

Field = Callable[[float, Tensor], Tensor]


# ---------------------------------------------------------------- data

class Trajectory(NamedTuple):
    t: Tensor
    y: Tensor


class Spirals(Dataset):
    A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])

    def __init__(self, size: int, t_max: float = 3.0, max_obs: int = 14, seed: int = 0):
        g = torch.Generator().manual_seed(seed)
        self.items: List[Trajectory] = []
        for _ in range(size):
            n = int(torch.randint(max_obs // 2, max_obs + 1, (1,), generator=g))
            t = torch.rand(n, generator=g).mul(t_max).sort().values
            y0 = torch.randn(2, generator=g)
            flow = torch.linalg.matrix_exp(torch.cat([t.new_zeros(1), t])[:, None, None] * self.A)
            y = flow @ y0 + 0.02 * torch.randn(n + 1, 2, generator=g)
            self.items.append(Trajectory(torch.cat([t.new_zeros(1), t]), y))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    t = pad_sequence([b.t for b in batch], batch_first=True)
    y = pad_sequence([b.y for b in batch], batch_first=True)
    lengths = torch.tensor([len(b.t) for b in batch])
    return t, y, lengths


# ---------------------------------------------------------------- solver

def rk4_step(f: Field, t: float, y: Tensor, h: float) -> Tensor:
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def euler_step(f: Field, t: float, y: Tensor, h: float) -> Tensor:
    return y + h * f(t, y)


STEPPERS = {"rk4": rk4_step, "euler": euler_step}


def solver_grid(times: Tensor, steps: int) -> Tensor:
    """Uniform grid that covers all observation times of the batch."""
    t_end = max(times.max().item(), 1e-3)
    return torch.linspace(0.0, t_end, steps + 1, dtype=times.dtype, device=times.device)


def integrate(f: Field, y0: Tensor, grid: Tensor, step) -> "tuple[Tensor, Tensor]":
    """Returns the states and slopes on the grid, both (G, B, D)."""
    ticks = grid.tolist()
    ys, ds = [y0], [f(ticks[0], y0)]
    for a, b in zip(ticks, ticks[1:]):
        y = step(f, a, ys[-1], b - a)
        ys.append(y)
        ds.append(f(b, y))
    return torch.stack(ys), torch.stack(ds)


def hermite(grid: Tensor, ys: Tensor, ds: Tensor, times: Tensor) -> Tensor:
    """Cubic interpolation of (G, B, D) at per-sample times (B, T)."""
    k = torch.searchsorted(grid, times.contiguous(), right=True).clamp(1, len(grid) - 1) - 1
    h = grid[1] - grid[0]
    s = ((times - grid[k]) / h).unsqueeze(-1)
    b = torch.arange(times.size(0), device=k.device).unsqueeze(1)
    y0, y1, d0, d1 = ys[k, b], ys[k + 1, b], ds[k, b] * h, ds[k + 1, b] * h
    s2, s3 = s ** 2, s ** 3
    return ((2 * s3 - 3 * s2 + 1) * y0 + (s3 - 2 * s2 + s) * d0
            + (-2 * s3 + 3 * s2) * y1 + (s3 - s2) * d1)


def odeint_at(f: Field, y0: Tensor, times: Tensor, steps: int, method: str) -> Tensor:
    grid = solver_grid(times, steps)
    ys, ds = integrate(f, y0, grid, STEPPERS[method])
    return hermite(grid, ys, ds, times)


# ---------------------------------------------------------------- model

class VectorField(nn.Module):
    def __init__(self, dim=2, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim + 1, hidden), nn.Tanh(), nn.Linear(hidden, dim))
        self.nfe = 0

    def forward(self, t: float, y: Tensor) -> Tensor:
        self.nfe += 1
        tt = torch.full_like(y[..., :1], t)
        return self.body(torch.cat([tt, y], dim=-1))


def sequence_mask(lengths: Tensor, size: int) -> Tensor:
    return torch.arange(size, device=lengths.device)[None, :] < lengths[:, None]


def masked_mse(pred: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    mask = sequence_mask(lengths, pred.size(1)).unsqueeze(-1)
    return ((pred - target) ** 2 * mask).sum() / (mask.sum() * pred.size(-1))


def run_epoch(solve, field, loader, device, optimizer=None):
    total, count = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for t, y, lengths in loader:
            t, y, lengths = t.to(device), y.to(device), lengths.to(device)
            loss = masked_mse(solve(field, y[:, 0], t), y, lengths)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(field.parameters(), 1.0)
                optimizer.step()
            total += loss.item() * len(t)
            count += len(t)
    return total / count


def phase_portrait(field, solve, t_max=3.0, n=5):
    """ASCII picture of a few solutions; the drawing is plain Python on host values."""
    dev = next(field.parameters()).device
    angles = torch.linspace(0, 6.28, n + 1)[:-1]
    y0 = torch.stack([angles.cos(), angles.sin()], dim=1).to(dev)
    times = torch.linspace(0, t_max, 20, device=dev).expand(n, -1)
    with torch.no_grad():
        path = solve(field, y0, times).cpu()
    canvas = [[" "] * 31 for _ in range(11)]
    for (i, j) in itertools.product(range(n), range(20)):
        x, y = path[i, j].clamp(-1.5, 1.5).tolist()
        canvas[int((y + 1.5) / 3 * 10)][int((x + 1.5) / 3 * 30)] = "*"
    return "\n".join("".join(row) for row in canvas)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--train-size", type=int, default=128)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--method", choices=sorted(STEPPERS), default="rk4")
    p.add_argument("--steps", type=int, default=16)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = p.parse_args()

    torch.manual_seed(0)
    device = torch.device(args.device)
    make = partial(DataLoader, batch_size=args.batch_size, collate_fn=collate)
    train = make(Spirals(args.train_size), shuffle=True)
    test = make(Spirals(args.train_size // 4, seed=1))

    field = VectorField().to(device)
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
    solve = partial(odeint_at, steps=args.steps, method=args.method)

    for epoch in range(args.epochs):
        tr = run_epoch(solve, field, train, device, optimizer)
        te = run_epoch(solve, field, test, device)
        print(f"[{epoch:02d}] train {tr:.4f}  test {te:.4f}  nfe {field.nfe}")
        field.nfe = 0
    print(phase_portrait(field, solve))


if __name__ == "__main__":
    main()
