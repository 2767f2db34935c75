import argparse
import copy
import functools
import time

import numpy as np
import torch

from data import load_moons, minibatches
from flows import build_realnvp


def timed(fn):
    @functools.wraps(fn)
    def wrapper(*a, **k):
        start = time.perf_counter()
        out = fn(*a, **k)
        print(f"[{fn.__name__}] {time.perf_counter() - start:.2f}s")
        return out

    return wrapper


@timed
def fit(flow, x, epochs, batch_size, lr, device):
    opt = torch.optim.Adam(flow.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    g = torch.Generator().manual_seed(0)
    best, best_nll = None, float("inf")
    for epoch in range(epochs):
        nlls = []
        for xb in minibatches(x, batch_size, g):
            loss = -flow.log_prob(xb.to(device)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            nlls.append(loss.detach())
        sched.step()
        nll = torch.stack(nlls).mean().item()
        if nll < best_nll:
            best_nll, best = nll, copy.deepcopy(flow).cpu()
        print(f"epoch {epoch} nll {nll:.3f}")
    return best


def wasserstein_1d(a, b):
    q = np.linspace(0, 1, 101)
    return np.abs(np.quantile(a, q) - np.quantile(b, q)).mean()


@timed
def marginal_distance(flow, x, scaler, n=200):
    """Mean 1-d Wasserstein distance between the data and samples, original units."""
    fake = scaler.inverse_transform(flow.sample(n).cpu().numpy())
    real = scaler.inverse_transform(x.numpy())
    return np.mean([wasserstein_1d(real[:, j], fake[:, j]) for j in range(real.shape[1])])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--depth", type=int, default=3)
    ap.add_argument("--no-cuda", action="store_true")
    args = ap.parse_args()

    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    x, scaler = load_moons(256)
    flow = build_realnvp(x.shape[1], args.depth).to(device)
    best = fit(flow, x, args.epochs, args.batch_size, 2e-3, device)
    print("last, on", device.type, "%.4f" % marginal_distance(flow, x, scaler))
    print("best, on cpu %.4f" % marginal_distance(best, x, scaler))
    with torch.no_grad():
        print("train nll of best %.3f" % -best.log_prob(x).mean())


if __name__ == "__main__":
    main()
