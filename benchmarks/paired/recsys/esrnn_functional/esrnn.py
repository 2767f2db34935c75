"""Hybrid exponential smoothing + network forecaster, functional style.

    python esrnn.py --series 40 --steps 300
"""
import argparse
import time

import numpy as np
import torch

from holtwinters import forecast, init_params, level_wiggliness, smooth
from m4like import mase, monthly_panel, seasonal_naive, smape


def get_device(name=None):
    return torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))


def put(tree, device):
    if isinstance(tree, dict):
        return {k: put(v, device) for k, v in tree.items()}
    return tree.to(device)


def as_leaves(tree):
    return {k: v.detach().requires_grad_() for k, v in tree.items()}


def make_step(loss_fn, opt, sched, clip):
    def step(params, *batch):
        opt.zero_grad()
        loss = loss_fn(params, *batch)
        loss.backward()
        for group in opt.param_groups:
            torch.nn.utils.clip_grad_norm_(group["params"], clip)
        opt.step()
        sched.step()
        return loss.detach()
    return step


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--series", type=int, default=20)
    ap.add_argument("--years", type=int, default=5)
    ap.add_argument("--horizon", type=int, default=6)
    ap.add_argument("--window", type=int, default=12)
    ap.add_argument("--steps", type=int, default=200)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--device")
    args = ap.parse_args(argv)
    device = get_device(args.device)

    panel = monthly_panel(args.series, args.years)
    history, actual = panel[:, :-args.horizon], panel[:, -args.horizon:]
    y = torch.from_numpy(history).to(device)
    cut_rng = np.random.default_rng(0)

    def loss_fn(p, series, cut):
        q = dict(p, alpha=p["alpha"][series], gamma=p["gamma"][series], season=p["season"][series])
        past, future = y[series, :cut], y[series, cut:cut + args.horizon]
        pred = forecast(q, past, args.window, args.horizon)
        err = (torch.log(pred) - torch.log(future)).abs().mean()
        return err + 5.0 * level_wiggliness(smooth(q, past)[0])

    params = init_params(args.series, 12, 16, args.horizon, args.window, seed=0)
    params = as_leaves(put(params, device))
    smoothing = [params[k] for k in ("alpha", "gamma", "season")]
    network = [params[k] for k in ("w1", "b1", "w2", "b2")]
    opt = torch.optim.Adam([{"params": smoothing, "lr": 2 * args.lr}, {"params": network}], lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)
    step = make_step(loss_fn, opt, sched, clip=1.0)

    t0 = time.time()
    for i in range(args.steps):
        series = torch.from_numpy(cut_rng.choice(args.series, args.series // 2, replace=False)).to(device)
        cut = int(cut_rng.integers(24, y.size(1) - args.horizon + 1))
        loss = step(params, series, cut)
        if (i + 1) % 20 == 0:
            print(f"step {i + 1:4d}  loss {loss.item():.4f}  {time.time() - t0:.1f}s")

    with torch.no_grad():
        pred = forecast(put(params, "cpu"), y.cpu(), args.window, args.horizon).numpy()
    for name, p in (("seasonal naive", seasonal_naive(history, args.horizon)), ("es-rnn", pred)):
        print(f"{name:>15s}  sMAPE {smape(actual, p):6.2f}  MASE {mase(actual, p, history):.3f}")


if __name__ == "__main__":
    main()
