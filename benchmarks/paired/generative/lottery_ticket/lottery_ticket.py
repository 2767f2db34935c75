# %% [markdown]
# # Lottery tickets on a toy problem
# Iterative magnitude pruning with rewinding (Frankle & Carbin 2019), LeNet-300-100 style.

# %%
import argparse
import sys
import tempfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

ap = argparse.ArgumentParser()
ap.add_argument("--rounds", type=int, default=3)
ap.add_argument("--epochs", type=int, default=2)
ap.add_argument("--prune-rate", type=float, default=0.4)
ap.add_argument("--random-reinit", action="store_true", help="control: forget the initial weights")
ap.add_argument("--seed", type=int, default=7)
args, _ = ap.parse_known_args(sys.argv[1:])

torch.manual_seed(args.seed)
np.random.seed(args.seed)
DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
WORK = Path(tempfile.mkdtemp(prefix="lth_"))
DEVICE

# %% data: two interleaved spirals with nuisance features


def spirals(n, turns=1.5, dim=10):
    t = np.sqrt(np.random.rand(n)) * turns * 2 * np.pi
    y = np.random.randint(0, 2, n)
    r = t * np.where(y == 0, 1, -1)
    xy = np.stack([r * np.cos(t), r * np.sin(t)], 1) / (turns * 2 * np.pi)
    x = np.concatenate([xy, 0.3 * np.random.randn(n, dim - 2)], 1) + 0.02 * np.random.randn(n, dim)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


train_dl = DataLoader(spirals(192), batch_size=32, shuffle=True)
test_dl = DataLoader(spirals(96), batch_size=96)

# %% model


def make_net():
    return nn.Sequential(OrderedDict(
        fc1=nn.Linear(10, 48), act1=nn.ReLU(),
        fc2=nn.Linear(48, 24), act2=nn.ReLU(),
        out=nn.Linear(24, 2),
    ))


net = make_net()
theta0 = {k: v.clone() for k, v in net.state_dict().items()}
torch.save(theta0, WORK / "theta0.pt")
net.to(DEVICE)

prunable = [n for n, p in net.named_parameters() if p.dim() > 1]
masks = {n: torch.ones_like(p) for n, p in net.named_parameters() if n in prunable}

# %% helpers


def apply_masks(target="weight"):
    with torch.no_grad():
        for n, p in net.named_parameters():
            if n not in masks:
                continue
            if target == "grad" and p.grad is not None:
                p.grad.mul_(masks[n])
            elif target == "weight":
                p.mul_(masks[n])


def train(epochs):
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(epochs):
        net.train()
        for x, y in train_dl:
            x, y = x.to(DEVICE), y.to(DEVICE)
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            apply_masks("grad")
            opt.step()
            apply_masks("weight")
    return loss.item()


@torch.no_grad()
def evaluate():
    net.eval()
    right = total = 0
    for x, y in test_dl:
        right += (net(x.to(DEVICE)).argmax(1).cpu() == y).sum().item()
        total += len(y)
    return right / total


def prune(rate):
    """Global magnitude pruning; the threshold is computed with NumPy over everything alive."""
    params = dict(net.named_parameters())
    alive = np.concatenate([
        params[n].detach()[masks[n].bool()].abs().cpu().numpy() for n in prunable
    ])
    thr = float(np.quantile(alive, rate))
    for n in prunable:
        masks[n] = (params[n].detach().abs() > thr).float() * masks[n]


def rewind():
    source = make_net().state_dict() if args.random_reinit else theta0
    for name, param in net.named_parameters():
        param.data.copy_(source[name])
    apply_masks("weight")


def sparsity():
    kept = sum(int(m.sum()) for m in masks.values())
    return 1 - kept / sum(m.numel() for m in masks.values())


# %% iterate

curve = []
for r in range(args.rounds):
    loss = train(args.epochs)
    acc = evaluate()
    curve.append((sparsity(), acc))
    print(f"round {r}: sparsity {curve[-1][0]:.3f} loss {loss:.3f} acc {acc:.3f}")
    torch.save({n: m.bool().cpu() for n, m in masks.items()}, WORK / f"mask_{r}.pt")
    if r < args.rounds - 1:
        prune(args.prune_rate)
        rewind()

# %% overlap of the tickets between rounds

saved = [torch.load(p) for p in sorted(WORK.glob("mask_*.pt"))]
for a, b in zip(saved, saved[1:]):
    inter = sum((a[n] & b[n]).sum() for n in prunable)
    print("nested:", bool(inter == sum(b[n].sum() for n in prunable)))
print(np.round(np.array(curve), 3).tolist())
