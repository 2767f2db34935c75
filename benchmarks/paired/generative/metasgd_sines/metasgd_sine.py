#!/usr/bin/env python
"""Meta-SGD (Li et al. 2017): MAML with a learned step size per weight, sine regression."""
import argparse
import contextlib
import math
import os
import tempfile
from typing import Callable, Dict, Iterator, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

Params = Dict[str, torch.Tensor]


class Episode(NamedTuple):
    xs: torch.Tensor
    ys: torch.Tensor
    xq: torch.Tensor
    yq: torch.Tensor

    def to(self, device):
        return Episode(*(t.to(device) for t in self))


def sine_tasks(shots: int, queries: int, seed: int = 0) -> Iterator[Episode]:
    g = torch.Generator().manual_seed(seed)

    def uniform(lo, hi, *shape):
        return lo + (hi - lo) * torch.rand(*shape, generator=g)

    while True:
        amp = uniform(0.1, 5.0, 1).item()
        phase = uniform(0, math.pi, 1).item()
        x = uniform(-5, 5, shots + queries, 1)
        y = amp * torch.sin(x - phase)
        yield Episode(x[:shots], y[:shots], x[shots:], y[shots:])


class MetaSGD(nn.Module):
    def __init__(self, hidden: int = 24, init_lr: float = 0.01):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 1),
        )
        self.lrs = nn.ParameterDict({
            name.replace(".", "_"): nn.Parameter(torch.full_like(p, init_lr))
            for name, p in self.net.named_parameters()
        })

    def meta_parameters(self):
        yield from self.net.parameters()
        yield from self.lrs.values()

    def fast_weights(self) -> Params:
        return dict(self.net.named_parameters())

    def predict(self, weights: Params, x):
        return functional_call(self.net, weights, (x,))

    def adapt(self, x, y, steps: int, first_order: bool = False) -> Params:
        weights = self.fast_weights()
        for _ in range(steps):
            loss = F.mse_loss(self.predict(weights, x), y)
            grads = torch.autograd.grad(loss, list(weights.values()), create_graph=not first_order)
            weights = {
                n: w - self.lrs[n.replace(".", "_")] * g
                for (n, w), g in zip(weights.items(), grads)
            }
        return weights


@contextlib.contextmanager
def on_device(module: nn.Module, device):
    """Run the body with `module` somewhere else, then bring it back."""
    home = next(module.parameters()).device
    module.to(device)
    try:
        yield module
    finally:
        module.to(home)


def running_mean(beta: float = 0.9) -> Callable[[float], float]:
    state = {"v": 0.0, "n": 0}

    def push(value: float) -> float:
        state["n"] += 1
        state["v"] = beta * state["v"] + (1 - beta) * value
        return state["v"] / (1 - beta ** state["n"])

    return push


def evaluate(learner: MetaSGD, n_tasks: int, args) -> torch.Tensor:
    """Query error after 0..k steps, one row per task. Tiny problems, the host is faster."""
    tasks = sine_tasks(args.shots, args.queries, seed=1000)
    rows = []
    with on_device(learner, "cpu"):
        for _ in range(n_tasks):
            ep = next(tasks)
            row = []
            for k in range(args.steps + 2):
                weights = learner.adapt(ep.xs, ep.ys, k, first_order=True)
                with torch.no_grad():
                    row.append(F.mse_loss(learner.predict(weights, ep.xq), ep.yq))
            rows.append(torch.stack(row))
    return torch.stack(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--meta-batch", type=int, default=4)
    parser.add_argument("--shots", type=int, default=8)
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--meta-lr", type=float, default=3e-3)
    parser.add_argument("--eval-every", type=int, default=6)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    learner = MetaSGD().to(device)
    opt = torch.optim.Adam(learner.meta_parameters(), lr=args.meta_lr)
    tasks = sine_tasks(args.shots, args.queries)
    smooth = running_mean()
    ckpt = os.path.join(tempfile.mkdtemp(), "metasgd.pt")

    for it in range(1, args.iterations + 1):
        opt.zero_grad()
        total = torch.zeros((), device=device)
        for _ in range(args.meta_batch):
            ep = next(tasks).to(device)
            weights = learner.adapt(ep.xs, ep.ys, args.steps)
            total = total + F.mse_loss(learner.predict(weights, ep.xq), ep.yq)
        (total / args.meta_batch).backward()
        nn.utils.clip_grad_norm_(learner.net.parameters(), 10.0)
        opt.step()
        avg = smooth(total.item() / args.meta_batch)
        if it % args.eval_every == 0:
            table = evaluate(learner, 5, args)
            curve = " ".join(f"{v:.2f}" for v in table.mean(0).tolist())
            lrs = torch.cat([p.detach().flatten() for p in learner.lrs.values()])
            print(f"it {it:3d} meta loss {avg:.3f} query mse by step [{curve}] "
                  f"lr {lrs.mean():.4f}+-{lrs.std():.4f}")
            torch.save({"weights": learner.fast_weights(), "lrs": dict(learner.lrs.items())}, ckpt)


if __name__ == "__main__":
    main()
