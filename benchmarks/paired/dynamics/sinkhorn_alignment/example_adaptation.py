"""Unsupervised domain adaptation: align source and target features with otlib."""
import argparse
import itertools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment

from otlib import SinkhornDivergence


def two_moons(n, angle=0.0, shift=0.0, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(n, generator=g) * math.pi
    label = torch.arange(n) % 2
    sign = 1.0 - 2.0 * label
    pts = torch.stack([sign * t.cos() + label, sign * t.sin() + 0.3 * label], dim=1)
    pts += 0.08 * torch.randn(n, 2, generator=g)
    c, s = math.cos(angle), math.sin(angle)
    return pts @ torch.tensor([[c, s], [-s, c]]) + shift, label


def endless(x, y, batch_size):
    """Shuffled mini-batches for ever (always full)."""
    while True:
        for idx in torch.randperm(len(x)).split(batch_size):
            if len(idx) == batch_size:
                yield x[idx], y[idx]


class Net(nn.Module):
    def __init__(self, hidden=32, feat=8):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, feat), nn.Tanh())
        self.classifier = nn.Linear(feat, 2)

    def forward(self, x):
        z = self.features(x)
        return z, self.classifier(z)


@torch.no_grad()
def report(net, criterion, src, tgt, n=32):
    """Compare the entropic divergence to exact assignment (SciPy), in double precision on the host."""
    z_s = net.features(src[0][:n])
    z_t = net.features(tgt[0][:n])
    cost = criterion.cost_fn(z_s, z_t)
    rows, cols = linear_sum_assignment(cost.numpy())
    exact = cost[rows, cols].mean().item()
    acc = (net(tgt[0])[1].argmax(1) == tgt[1]).double().mean().item()
    return acc, criterion(z_s, z_t).item(), exact


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--report-every", type=int, default=100)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--weight", type=float, default=1.0)
    ap.add_argument("--cost", default="sqeuclidean", choices=["sqeuclidean", "cosine"])
    ap.add_argument("--no-cuda", action="store_true")
    args = ap.parse_args()

    torch.manual_seed(0)
    # small clouds with small eps need double precision
    torch.set_default_dtype(torch.float64)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")

    source = two_moons(128)
    target = two_moons(128, angle=0.6, shift=0.2, seed=1)
    net = Net().to(device)
    criterion = SinkhornDivergence(args.cost)
    print(criterion)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

    stream = zip(endless(*source, args.batch_size), endless(*target, args.batch_size))
    for step, ((xs, ys), (xt, _)) in enumerate(itertools.islice(stream, args.steps), start=1):
        xs, ys, xt = xs.to(device), ys.to(device), xt.to(device)
        z_s, logits = net(xs)
        z_t, _ = net(xt)
        clf, align = F.cross_entropy(logits, ys), criterion(z_s, z_t)
        optimizer.zero_grad()
        (clf + args.weight * align).backward()
        optimizer.step()

        if step % args.report_every == 0:
            net.cpu()
            acc, ent, exact = report(net, criterion, source, target)
            net.to(device)
            print(f"step {step}: ce {clf.item():.3f} align {align.item():.3f} | "
                  f"target acc {acc:.3f} divergence {ent:.3f} exact {exact:.3f}")


if __name__ == "__main__":
    main()
