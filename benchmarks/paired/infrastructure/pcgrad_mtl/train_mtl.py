import argparse
import random

import torch

from network import SharedTrunk
from pcgrad import PCGrad
from tasks import TASKS, losses, sample


def move(batch, args):
    x, targets = batch
    return x.to(args.device), {k: v.to(args.device) for k, v in targets.items()}


def train(args):
    gen = torch.Generator().manual_seed(args.seed)
    model = SharedTrunk(6, TASKS).to(args.device)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.iters)
    pc = PCGrad(opt, reduction="mean") if args.method == "pcgrad" else None

    for it in range(1, args.iters + 1):
        x, target = move(sample(args.batch, gen), args)
        parts = losses(model(x), target)
        if pc is not None:
            pc.pc_backward(list(parts.values()))
        else:
            opt.zero_grad()
            sum(parts.values()).backward()
        opt.step()
        sched.step()
        if it % args.report == 0:
            print(f"[{args.method}] it {it} " + " ".join(f"{k}={v.item():.3f}" for k, v in parts.items()))
    if pc is not None:
        print(f"conflicting pairs: {pc.conflicts}")
    return model


@torch.no_grad()
def test(model, args):
    x, target = move(sample(256, torch.Generator().manual_seed(10_000)), args)
    out = model.eval()(x)
    acc = {t: (out[t].argmax(1) == target[t]).float().mean().item() for t in ("phase", "stable")}
    rmse = (out["energy"].squeeze(-1) - target["energy"]).pow(2).mean().sqrt().item()
    print(f"[{args.method}] test rmse {rmse:.3f} " + " ".join(f"{t} acc {a:.3f}" for t, a in acc.items()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=30)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=4)
    p.add_argument("--report", type=int, default=10)
    p.add_argument("--device", type=torch.device, default=None)
    args = p.parse_args()
    if args.device is None:
        args.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    for args.method in ("joint", "pcgrad"):
        random.seed(args.seed)
        torch.manual_seed(args.seed)
        test(train(args), args)


if __name__ == "__main__":
    main()
