# %% [markdown]
# # Class-conditional DDPM on 2-D toy shapes
# Train with classifier-free guidance, sample with DDIM from the EMA weights, score with a sliced Wasserstein distance.

# %%
import argparse
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--T", type=int, default=100)
parser.add_argument("--sample-steps", type=int, default=10)
parser.add_argument("--guidance", type=float, default=1.5)
args = parser.parse_args()

torch.manual_seed(0)
np.random.seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# %%
CLASSES = ["ring", "moons", "spiral"]


def make_shape(kind, n):
    u = np.random.rand(n)
    if kind == "ring":
        p = np.stack([np.cos(2 * np.pi * u), np.sin(2 * np.pi * u)], 1)
    elif kind == "moons":
        up = np.random.rand(n) < 0.5
        p = np.stack([np.cos(np.pi * u), np.sin(np.pi * u)], 1)
        p[~up] = np.array([1.0, 0.5]) - p[~up]
        p = p - np.array([0.5, 0.25])
    else:
        r = np.sqrt(u) * 1.2
        p = np.stack([r * np.cos(9 * r), r * np.sin(9 * r)], 1)
    return (p + 0.03 * np.random.randn(n, 2)).astype(np.float32)


points = np.concatenate([make_shape(k, 256) for k in CLASSES])
labels = np.repeat(np.arange(len(CLASSES)), 256)
loader = DataLoader(TensorDataset(torch.from_numpy(points), torch.from_numpy(labels)), batch_size=64, shuffle=True)

# %% noise schedule
betas = torch.linspace(1e-4, 0.06, args.T)
alpha_bar = torch.cumprod(1 - betas, 0).to(device)


def q_sample(x0, t, noise):
    a = alpha_bar[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


# %% network
def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(1000.0) * torch.arange(half, device=t.device) / half)
    ang = t.float().unsqueeze(1) * freqs
    return torch.cat([ang.sin(), ang.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, n_classes, width=64, emb=32):
        super().__init__()
        self.emb = emb
        self.null = n_classes
        self.label = nn.Embedding(n_classes + 1, emb)
        self.time = nn.Sequential(nn.Linear(emb, emb), nn.SiLU())
        self.inp = nn.Linear(2, width)
        self.blocks = nn.ModuleList(nn.Linear(width + emb, width) for _ in range(3))
        self.out = nn.Linear(width, 2)

    def forward(self, x, t, y):
        c = self.time(timestep_embedding(t, self.emb)) + self.label(y)
        h = self.inp(x)
        for block in self.blocks:
            h = h + F.silu(block(torch.cat([h, c], dim=1)))
        return self.out(h)


model = Denoiser(len(CLASSES)).to(device)

# the averaged weights wait in host memory between evaluations
ema = copy.deepcopy(model).cpu().eval()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)


@torch.no_grad()
def ema_update(decay=0.9):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.mul_(decay).add_(p.cpu(), alpha=1 - decay)


# %% sampler
@torch.no_grad()
def ddim(net, y, steps, w):
    n = len(y)
    x = torch.randn(n, 2, device=device)
    y = y.to(device)
    null = torch.full_like(y, net.null)
    times = torch.linspace(args.T - 1, 0, steps).long()
    for i, step in enumerate(times):
        t = torch.full((n,), step.item(), device=device)
        eps = (1 + w) * net(x, t, y) - w * net(x, t, null)
        a = alpha_bar[step]
        x0 = ((x - (1 - a).sqrt() * eps) / a.sqrt()).clamp(-2, 2)
        if i + 1 < len(times):
            b = alpha_bar[times[i + 1]]
            x = b.sqrt() * x0 + (1 - b).sqrt() * eps
        else:
            x = x0
    return x


def sliced_wasserstein(a, b, n_proj=32):
    theta = np.random.rand(n_proj) * np.pi
    d = np.stack([np.cos(theta), np.sin(theta)])
    return float(np.abs(np.sort(a @ d, 0) - np.sort(b @ d, 0)).mean())


# %% training
for epoch in range(args.epochs):
    model.train()
    total = 0.0
    for x0, y in loader:
        x0, y = x0.to(device), y.to(device)
        drop = torch.rand(len(y), device=device) < 0.15
        y = y.masked_fill(drop, model.null)
        t = torch.randint(0, args.T, (len(y),), device=device)
        noise = torch.randn_like(x0)
        loss = F.mse_loss(model(q_sample(x0, t, noise), t, y), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema_update()
        total += loss.item()

    ema.to(device)
    scores = []
    for k, name in enumerate(CLASSES):
        fake = ddim(ema, torch.full((128,), k), args.sample_steps, args.guidance)
        real = points[labels == k][:128]
        scores.append("%s %.3f" % (name, sliced_wasserstein(fake.cpu().numpy(), real)))
    ema.cpu()
    print("epoch %d  loss %.4f  SWD: %s" % (epoch, total / len(loader), ", ".join(scores)))
