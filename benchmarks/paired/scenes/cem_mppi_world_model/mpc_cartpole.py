# %% [markdown]
# # Planning with a learned ensemble
# Learn the dynamics of a toy cart-pole swing-up from random data, then plan with CEM or MPPI.
# Rollouts of the model happen on the accelerator; a host replica of the model is kept
# for the diagnostics (SciPy) and is what gets saved.

# %%
import argparse
import copy
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.stats import spearmanr

# %%
ap = argparse.ArgumentParser()
ap.add_argument("--planner", choices=["cem", "mppi"], default="cem")
ap.add_argument("--epochs", type=int, default=8)
ap.add_argument("--steps", type=int, default=5)
ap.add_argument("--members", type=int, default=3)
ap.add_argument("--no-cuda", action="store_true")
args = ap.parse_args()

torch.manual_seed(0)
rng = np.random.default_rng(0)
device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")

# %% environment
DT, S, A = 0.05, 5, 1


def env_step(state, u):
    """state: (..., 4) x, xdot, theta, thetadot"""
    x, xd, th, thd = np.moveaxis(state, -1, 0)
    u = np.clip(u[..., 0], -1, 1) * 8.0
    s, c = np.sin(th), np.cos(th)
    tmp = (u + 0.1 * thd ** 2 * s) / 1.1
    thdd = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
    xdd = tmp - 0.05 * thdd * c / 1.1
    return np.stack([x + DT * xd, xd + DT * xdd, th + DT * thd, thd + DT * thdd], -1)


def observe(state):
    x, xd, th, thd = np.moveaxis(state, -1, 0)
    return np.stack([x, xd, np.cos(th), np.sin(th), thd], -1).astype(np.float32)


def random_transitions(n=256):
    st = rng.uniform([-1, -2, -np.pi, -4], [1, 2, np.pi, 4], (n, 4))
    u = rng.uniform(-1, 1, (n, 1))
    return observe(st), u.astype(np.float32), observe(env_step(st, u))


# %% model
class Ensemble(nn.Module):
    def __init__(self, members, hidden=32):
        super().__init__()
        self.members = members
        self.w1 = nn.Parameter(torch.randn(members, S + A, hidden) / (S + A) ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(members, 1, hidden))
        self.w2 = nn.Parameter(torch.randn(members, hidden, S) / hidden ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(members, 1, S))
        self.register_buffer("scale", torch.ones(S))

    def forward(self, obs, act):
        x = torch.cat([obs, act], -1)
        if x.dim() == 2:
            x = x.expand(self.members, *x.shape)
        h = torch.tanh(torch.baddbmm(self.b1, x, self.w1))
        return torch.baddbmm(self.b2, h, self.w2) * self.scale


def working_copy(net, where):
    """The replica that does the heavy work; the model itself when there is only the host."""
    return net if where.type == "cpu" else copy.deepcopy(net).to(where)


def sync(src, dst):
    if src is not dst:
        dst.load_state_dict(src.state_dict())


# %% data and training
obs, act, nxt = (torch.from_numpy(a) for a in random_transitions())
val = tuple(torch.from_numpy(a) for a in random_transitions(64))

host_model = Ensemble(args.members)
host_model.scale.copy_((nxt - obs).std(0))
model = working_copy(host_model, device)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)


def train_epoch(batch=64):
    total = 0.0
    for idx in torch.randperm(len(obs)).split(batch):
        o, a, n = obs[idx].to(device), act[idx].to(device), nxt[idx].to(device)
        pred = model(o, a)
        loss = F.mse_loss(pred / model.scale, ((n - o) / model.scale).expand_as(pred))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / len(obs)


@torch.no_grad()
def diagnostics():
    """Does the disagreement of the members rank the errors?"""
    o, a, n = val
    pred = host_model(o, a)
    err = ((pred.mean(0) - (n - o)) ** 2).sum(-1).numpy()
    return float(err.mean()), float(spearmanr(pred.var(0).sum(-1).numpy(), err)[0])


for epoch in range(args.epochs):
    loss = train_epoch()
    sync(model, host_model)
    if epoch % 2 == 1:
        mse, rho = diagnostics()
        print(f"epoch {epoch}: train {loss:.4f} val {mse:.4f} rank corr {rho:.2f}")


# %% planners
def cost_fn(o, a):
    return (1 - o[..., 2]) + 0.1 * o[..., 0] ** 2 + 0.01 * o[..., 4] ** 2 + 0.01 * a[..., 0] ** 2


@torch.no_grad()
def rollout_cost(o0, plans):
    """plans: (N, H, A) -> (N,) mean over the members."""
    o = torch.as_tensor(o0, device=plans.device).expand(model.members, plans.shape[0], S)
    cost = plans.new_zeros(plans.shape[0])
    for t in range(plans.shape[1]):
        a = plans[:, t].expand(model.members, -1, -1)
        o = o + model(o, a)
        cost = cost + cost_fn(o, a).mean(0)
    return cost


class CEM:
    def __init__(self, horizon=8, pop=48, elites=8, iters=3):
        self.h, self.pop, self.k, self.iters = horizon, pop, elites, iters
        self.mean = torch.zeros(horizon, A, device=device)

    def __call__(self, o):
        std = torch.full_like(self.mean, 0.7)
        for _ in range(self.iters):
            plans = (self.mean + std * torch.randn(self.pop, self.h, A, device=device)).clamp(-1, 1)
            best = plans[rollout_cost(o, plans).topk(self.k, largest=False).indices]
            self.mean, std = best.mean(0), best.std(0) + 0.05
        u = self.mean[0].cpu().numpy()
        self.mean = torch.cat([self.mean[1:], torch.zeros_like(self.mean[:1])])
        return u


class MPPI:
    def __init__(self, horizon=8, pop=64, temperature=0.5, sigma=0.6):
        self.pop, self.lam, self.sigma = pop, temperature, sigma
        self.u = torch.zeros(horizon, A, device=device)

    def __call__(self, o):
        noise = self.sigma * torch.randn(self.pop, *self.u.shape, device=self.u.device)
        c = rollout_cost(o, (self.u + noise).clamp(-1, 1))
        w = torch.softmax(-(c - c.min()) / self.lam, 0)
        self.u = (self.u + (w[:, None, None] * noise).sum(0)).clamp(-1, 1)
        first = self.u[0].cpu().numpy()
        self.u = self.u.roll(-1, 0)
        self.u[-1] = 0
        return first


# %% control
planner = {"cem": CEM, "mppi": MPPI}[args.planner]()
state, ret = np.array([0.0, 0.0, 0.6, 0.0]), 0.0
for t in range(args.steps):
    u = planner(observe(state))
    state = env_step(state, u)
    ret -= float(cost_fn(torch.from_numpy(observe(state)), torch.from_numpy(u)))
print(f"{args.planner}: return {ret:.3f}, final angle {state[2]:.3f}")

with tempfile.TemporaryDirectory() as d:
    torch.save(host_model.state_dict(), os.path.join(d, "ensemble.pt"))
