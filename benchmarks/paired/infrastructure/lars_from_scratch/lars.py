"""LARS (You et al., 2017) written out by hand, on a large-batch toy problem."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class LARS:
    """Layer-wise adaptive rate scaling.

    Not a torch.optim.Optimizer: only what the experiment needs. One- and
    zero-dimensional parameters (biases, norms) take the plain momentum update.
    """

    def __init__(self, params, lr, momentum=0.9, weight_decay=1e-4, trust=1e-2, device="cpu"):
        self.params = [p for p in params if p.requires_grad]
        self.weights = [p.data.to(device) for p in self.params]
        self.velocity = [torch.zeros_like(w) for w in self.weights]
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.trust = trust
        self.last_ratios = []

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.last_ratios = []
        for p, w, v in zip(self.params, self.weights, self.velocity):
            if p.grad is None:
                continue
            g = p.grad
            lr = self.lr
            if w.dim() > 1:
                g = g.add(w, alpha=self.weight_decay)
                wn, gn = w.norm().item(), g.norm().item()
                ratio = min(self.trust * wn / (gn + 1e-9), 1.0) if wn > 0 else 1.0
                self.last_ratios.append(ratio)
                lr = lr * ratio
            v.mul_(self.momentum).add_(g, alpha=lr)
            w.sub_(v)


class PolyWarmup:
    """Linear warmup followed by polynomial decay; sets optimizer.lr."""

    def __init__(self, opt, base_lr, warmup, total, power=2.0):
        self.opt, self.base, self.warmup, self.total, self.power = opt, base_lr, warmup, total, power
        self.t = 0
        self.step()

    def step(self):
        if self.t < self.warmup:
            self.opt.lr = self.base * (self.t + 1) / self.warmup
        else:
            frac = (self.t - self.warmup) / max(1, self.total - self.warmup)
            self.opt.lr = self.base * (1 - frac) ** self.power
        self.t += 1


def rings(n, classes, dim, gen):
    y = torch.randint(classes, (n,), generator=gen)
    d = F.normalize(torch.randn(n, dim, generator=gen), dim=1)
    r = 1.0 + y.float() + 0.15 * torch.randn(n, generator=gen)
    return d * r[:, None], y


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=0.5)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--micro", type=int, default=64, help="micro batch; gradients are accumulated")
    ap.add_argument("--steps", type=int, default=50)
    ap.add_argument("--gpu", type=int, default=0)
    args = ap.parse_args()

    torch.manual_seed(11)
    device = f"cuda:{args.gpu}" if torch.cuda.is_available() else "cpu"

    net = nn.Sequential(
        nn.Linear(6, 64), nn.LayerNorm(64), nn.ReLU(),
        nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(),
        nn.Linear(64, 3),
    )
    net.to(device)
    opt = LARS(net.parameters(), lr=args.lr, device=device)
    sched = PolyWarmup(opt, args.lr, warmup=5, total=args.steps)

    gen = torch.Generator().manual_seed(0)
    xv, yv = rings(256, 3, 6, gen)
    xv, yv = xv.to(device), yv.to(device)
    chunks = args.batch // args.micro

    for step in range(args.steps):
        net.train()
        opt.zero_grad()
        total = 0.0
        for _ in range(chunks):
            x, y = rings(args.micro, 3, 6, gen)
            loss = F.cross_entropy(net(x.to(device)), y.to(device)) / chunks
            loss.backward()
            total += loss.item()
        opt.step()
        sched.step()
        if step % 10 == 0 or step == args.steps - 1:
            print(f"step {step:3d}  lr {opt.lr:.3f}  loss {total:.4f}  val {accuracy(net, xv, yv):.3f}  "
                  f"ratios {[round(r, 4) for r in opt.last_ratios]}")


if __name__ == "__main__":
    main()
