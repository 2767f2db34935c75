"""
Unsupervised domain adaptation with entropic optimal transport, close to DeepJDOT:
the plan is found without gradient, then features and classifier are trained against it.
"""
import argparse

import numpy as np
import torch
from scipy.spatial.distance import cdist
from torch import nn
from torch.nn import functional as F


class SinkhornPlan:
    """Log-domain Sinkhorn for uniform marginals."""

    def __init__(self, eps=0.05, n_iters=30):
        self.eps = eps
        self.n_iters = n_iters

    @torch.no_grad()
    def __call__(self, C):
        n, m = C.shape
        log_mu = torch.full((n,), -np.log(n), dtype=C.dtype, device=C.device)
        log_nu = torch.full((m,), -np.log(m), dtype=C.dtype, device=C.device)
        f = torch.zeros_like(log_mu)
        g = torch.zeros_like(log_nu)
        for _ in range(self.n_iters):
            f = self.eps * (log_mu - torch.logsumexp((g[None, :] - C) / self.eps, dim=1))
            g = self.eps * (log_nu - torch.logsumexp((f[:, None] - C) / self.eps, dim=0))
        return torch.exp((f[:, None] + g[None, :] - C) / self.eps)


def feature_cost(zs, zt):
    """Normalised cosine cost. scipy's is float64 and does not blow up on near-zero features."""
    C = cdist(zs.detach().cpu().numpy(), zt.detach().cpu().numpy(), metric="cosine")
    C = C / max(C.max(), 1e-8)
    return torch.from_numpy(C).float().to(zs.device)


def label_cost(ys, logits_t, n_classes):
    onehot = F.one_hot(ys, n_classes).float()
    return -onehot @ F.log_softmax(logits_t, dim=1).t()


class Model(nn.Module):
    def __init__(self, n_classes=2, width=32, feat=8):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, feat))
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(feat, n_classes))

    def forward(self, x):
        z = self.features(x)
        return z, self.head(z)


def rotated_moons(n, degrees, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    phi = rng.uniform(0, np.pi, n)
    x = np.where(y[:, None] == 0, np.c_[np.cos(phi), np.sin(phi)], np.c_[1 - np.cos(phi), 0.5 - np.sin(phi)])
    x = x + 0.08 * rng.standard_normal(x.shape)
    a = np.deg2rad(degrees)
    rot = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    x = (x - [0.5, 0.25]) @ rot.T
    return torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y)


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x)[1].argmax(1) == y).float().mean().item()


def run(opts):
    device = torch.device("cuda" if torch.cuda.is_available() and not opts.no_cuda else "cpu")
    torch.manual_seed(opts.seed)
    xs, ys = (t.to(device) for t in rotated_moons(opts.samples, 0, opts.seed))
    xt, yt = (t.to(device) for t in rotated_moons(opts.samples, opts.angle, opts.seed + 1))

    model = Model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
    sinkhorn = SinkhornPlan(opts.eps)

    for it in range(opts.warmup + opts.iters):
        i = torch.randint(len(xs), (opts.batch,), device=device)
        j = torch.randint(len(xt), (opts.batch,), device=device)
        zs, logits_s = model(xs[i])
        loss = F.cross_entropy(logits_s, ys[i])
        if it >= opts.warmup:
            zt, logits_t = model(xt[j])
            y_cost = label_cost(ys[i], logits_t, 2)
            cost = opts.alpha * feature_cost(zs, zt) + opts.lam * y_cost.detach()
            plan = sinkhorn(cost)
            dist = torch.cdist(zs, zt).pow(2)
            loss = loss + (plan * (opts.alpha * 0.01 * dist + opts.lam * y_cost)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 20 == 0:
            print("it %3d loss %.3f source %.3f target %.3f" % (
                it, loss.item(), accuracy(model, xs, ys), accuracy(model, xt, yt)))
    print("final target accuracy %.3f" % accuracy(model, xt, yt))


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--samples", type=int, default=200)
    ap.add_argument("--angle", type=float, default=30.0)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--warmup", type=int, default=40)
    ap.add_argument("--iters", type=int, default=40)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--eps", type=float, default=0.1)
    ap.add_argument("--alpha", type=float, default=1.0)
    ap.add_argument("--lam", type=float, default=0.5)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--no-cuda", action="store_true")
    run(ap.parse_args())
