#!/usr/bin/env python
"""
OpenAI-style evolution strategies with a shared noise table, centered ranks and Adam on the host.
The population is simulated in one batch.
"""
import argparse
import dataclasses
import json
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.func import functional_call, vmap


@dataclasses.dataclass
class Options:
    generations: int = 15
    population: int = 32          # antithetic pairs = population / 2
    sigma: float = 0.1
    lr: float = 0.05
    l2: float = 0.005
    horizon: int = 25
    episodes: int = 4
    hidden: int = 16
    table_size: int = 200_000
    seed: int = 3
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    @classmethod
    def from_command_line(cls):
        parser = argparse.ArgumentParser()
        for f in dataclasses.fields(cls):
            parser.add_argument("--" + f.name.replace("_", "-"), type=type(f.default), default=f.default)
        return cls(**vars(parser.parse_args()))


class NoiseTable:
    """One big block of Gaussian noise; a perturbation is an offset into it."""

    def __init__(self, size, seed):
        self.noise = np.random.RandomState(seed).randn(size).astype(np.float32)
        self.rng = np.random.RandomState(seed + 1)

    def draw(self, n, dim):
        offsets = self.rng.randint(0, len(self.noise) - dim + 1, size=n)
        return torch.from_numpy(np.stack([self.noise[o:o + dim] for o in offsets]))


class HostAdam:
    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8):
        self.params = list(params)
        self.lr, self.betas, self.eps = lr, betas, eps
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]
        self.t = 0

    def step(self, grads):
        self.t += 1
        b1, b2 = self.betas
        scale = self.lr * (1 - b2 ** self.t) ** 0.5 / (1 - b1 ** self.t)
        for p, g, m, v in zip(self.params, grads, self.m, self.v):
            m.mul_(b1).add_(g, alpha=1 - b1)
            v.mul_(b2).addcmul_(g, g, value=1 - b2)
            p.addcdiv_(m, v.sqrt().add_(self.eps), value=-scale)


def make_policy(hidden):
    return nn.Sequential(nn.Linear(6, hidden), nn.Tanh(), nn.Linear(hidden, 2), nn.Tanh())


def split(flat, like):
    """(P, D) -> list of (P, *shape)"""
    out, i = [], 0
    for p in like:
        out.append(flat[:, i:i + p.numel()].reshape(flat.shape[0], *p.shape))
        i += p.numel()
    return out


@torch.no_grad()
def simulate(policy, weights, start, goal, horizon):
    """Point mass with drag. weights: dict name -> (P, *shape); start, goal: (E, 2). Returns (P,)."""
    n_pop = next(iter(weights.values())).shape[0]
    pos = start.expand(n_pop, *start.shape).clone()
    vel = torch.zeros_like(pos)
    target = goal.expand_as(pos)
    forward = vmap(lambda w, o: functional_call(policy, w, (o,)))
    total = pos.new_zeros(n_pop)
    for _ in range(horizon):
        act = forward(weights, torch.cat([pos, vel, target], dim=-1))
        vel = 0.9 * vel + 0.2 * act
        pos = pos + 0.2 * vel
        total -= (pos - target).norm(dim=-1).mean(dim=1) + 0.01 * act.pow(2).mean(dim=(1, 2))
    return total / horizon


def centered_ranks(x):
    ranks = np.empty(len(x), dtype=np.float32)
    ranks[x.argsort()] = np.arange(len(x), dtype=np.float32)
    return ranks / (len(x) - 1) - 0.5


def main(opt):
    torch.manual_seed(opt.seed)
    device = torch.device(opt.device)
    policy = make_policy(opt.hidden).to(device)
    names = [n for n, _ in policy.named_parameters()]
    params = [p.data for p in policy.parameters()]
    dim = sum(p.numel() for p in params)

    table = NoiseTable(opt.table_size, opt.seed)
    host = [p.cpu() for p in params]
    adam = HostAdam(host, opt.lr)
    eval_gen = torch.Generator().manual_seed(99)
    eval_start = torch.rand(16, 2, generator=eval_gen).mul_(2).sub_(1).to(device)
    eval_goal = torch.rand(16, 2, generator=eval_gen).mul_(2).sub_(1).to(device)

    history = []
    for gen in range(opt.generations):
        eps = table.draw(opt.population // 2, dim)
        eps = torch.cat([eps, -eps])
        noise = [e.to(device) for e in split(eps, params)]
        candidates = {n: p + opt.sigma * e for n, p, e in zip(names, params, noise)}

        start = torch.rand(opt.episodes, 2, device=device) * 2 - 1
        goal = torch.rand(opt.episodes, 2, device=device) * 2 - 1
        fitness = simulate(policy, candidates, start, goal, opt.horizon)

        w = torch.from_numpy(centered_ranks(fitness.cpu().numpy()))
        flat_grad = -(w @ eps) / (opt.population * opt.sigma)
        grads = [g.squeeze(0) + opt.l2 * h for g, h in zip(split(flat_grad.unsqueeze(0), host), host)]
        adam.step(grads)
        for p, h in zip(params, host):
            p.copy_(h)

        current = {n: p.unsqueeze(0) for n, p in zip(names, params)}
        score = simulate(policy, current, eval_start, eval_goal, opt.horizon).item()
        history.append({"gen": gen, "mean": fitness.mean().item(), "eval": score})
        if gen % 5 == 4:
            print("gen {gen:3d}  population {mean:.4f}  eval {eval:.4f}".format(**history[-1]))

    with tempfile.TemporaryDirectory() as d:
        torch.save({"policy": policy.state_dict(), "t": adam.t}, os.path.join(d, "es.pt"))
        with open(os.path.join(d, "history.json"), "w") as f:
            json.dump(history, f)


if __name__ == "__main__":
    main(Options.from_command_line())
