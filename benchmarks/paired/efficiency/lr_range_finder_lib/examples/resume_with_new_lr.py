"""Train briefly, look for a better learning rate, go on with a one-cycle plan."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lrtools import RangeTest, one_cycle


def spirals(n, turns=1.2):
    g = torch.Generator().manual_seed(5)
    r = torch.rand(n, generator=g)
    arm = torch.randint(0, 2, (n,), generator=g)
    a = r * turns * 6.283 + arm * 3.1416
    xy = torch.stack([r * a.cos(), r * a.sin()], 1) + 0.02 * torch.randn(n, 2, generator=g)
    return TensorDataset(xy, arm.float().unsqueeze(1))


def steps(model, opt, loss_fn, loader, device, sched=None):
    total = torch.zeros((), device=device)
    for x, y in loader:
        loss = loss_fn(model(x.to(device)), y.to(device))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if sched is not None:
            sched.step()
        total += loss.detach()
    return total.item() / len(loader)


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--warm-epochs", type=int, default=1)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--range-steps", type=int, default=15)
    ap.add_argument("--cpu", action="store_true")
    args = ap.parse_args(argv)

    torch.manual_seed(0)
    device = torch.device("cuda:0") if torch.cuda.is_available() and not args.cpu else torch.device("cpu")
    loader = DataLoader(spirals(256), batch_size=32, shuffle=True, drop_last=True)
    model = nn.Sequential(
        nn.Linear(2, 32), nn.BatchNorm1d(32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1)
    ).to(device)
    loss_fn = nn.BCEWithLogitsLoss()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

    for _ in range(args.warm_epochs):
        print("warm %.4f" % steps(model, opt, loss_fn, loader, device))

    with RangeTest(model, opt, loss_fn) as test:
        result = test.run(loader, lo=1e-4, hi=2.0, steps=args.range_steps)
    peak = result.suggestion()
    print("tested %d rates, diverged=%s, suggestion %.2e" % (len(result.lrs), result.diverged, peak))

    sched = one_cycle(opt, peak, args.epochs * len(loader))
    for epoch in range(args.epochs):
        print("epoch %d %.4f" % (epoch, steps(model, opt, loss_fn, loader, device, sched)))


if __name__ == "__main__":
    main()
