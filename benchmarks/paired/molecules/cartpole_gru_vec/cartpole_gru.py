#!/usr/bin/env python
"""A2C with a GRU policy on a batched cart-pole whose velocities are hidden from the agent."""
import argparse
import math
import tempfile
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn as nn
from torch import Tensor
from torch.distributions import Categorical

GRAVITY, M_CART, M_POLE, HALF_LEN, FORCE, DT = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
X_LIMIT, THETA_LIMIT, MAX_STEPS = 2.4, 12 * math.pi / 180, 60


class EnvState(NamedTuple):
    s: Tensor  # (n, 4): x, x_dot, theta, theta_dot
    t: Tensor  # (n,)


def env_reset(n, device):
    return EnvState(torch.empty(n, 4, device=device).uniform_(-0.05, 0.05), torch.zeros(n, device=device))


def env_step(state: EnvState, action: Tensor):
    x, xd, th, thd = state.s.unbind(-1)
    force = FORCE * (2.0 * action.float() - 1.0)
    total = M_CART + M_POLE
    tmp = (force + M_POLE * HALF_LEN * thd**2 * th.sin()) / total
    thacc = (GRAVITY * th.sin() - th.cos() * tmp) / (HALF_LEN * (4 / 3 - M_POLE * th.cos() ** 2 / total))
    xacc = tmp - M_POLE * HALF_LEN * thacc * th.cos() / total
    s = torch.stack([x + DT * xd, xd + DT * xacc, th + DT * thd, thd + DT * thacc], -1)
    t = state.t + 1
    fail = (s[:, 0].abs() > X_LIMIT) | (s[:, 2].abs() > THETA_LIMIT)
    done = fail | (t >= MAX_STEPS)
    fresh = env_reset(len(t), s.device)
    nxt = EnvState(torch.where(done[:, None], fresh.s, s), torch.where(done, fresh.t, t))
    return nxt, torch.ones_like(t), done, fail, t


def observe(state: EnvState):
    return state.s[:, [0, 2]] * state.s.new_tensor([1.0, 5.0])


class RecurrentPolicy(nn.Module):
    def __init__(self, obs_dim=2, hidden=24, n_actions=2):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(obs_dim, hidden)
        self.pi = nn.Linear(hidden, n_actions)
        self.v = nn.Linear(hidden, 1)
        self._h0 = {}

    def initial_state(self, n):
        ref = self.cell.weight_hh
        key = (n, ref.device)
        if key not in self._h0:
            self._h0[key] = ref.detach().new_zeros(n, self.hidden)
        return self._h0[key]

    def forward(self, obs, h):
        h = self.cell(obs, h)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1), h


class Rollout(NamedTuple):
    logp: Tensor
    value: Tensor
    reward: Tensor
    cont: Tensor
    entropy: Tensor
    bootstrap: Tensor


def collect(policy, state, h, steps):
    rows, lengths = [], []
    h0 = policy.initial_state(len(state.t))
    h = h.detach()
    for _ in range(steps):
        dist, value, h = policy(observe(state), h)
        action = dist.sample()
        state, reward, done, fail, t = env_step(state, action)
        h = torch.where(done[:, None], h0, h)
        rows.append((dist.log_prob(action), value, reward, 1.0 - done.float(), dist.entropy()))
        lengths += t[done].tolist()
    with torch.no_grad():
        _, boot, _ = policy(observe(state), h)
    return Rollout(*(torch.stack(c) for c in zip(*rows)), bootstrap=boot), state, h, lengths


def gae(ro: Rollout, gamma, lam):
    adv, run, nxt = [], torch.zeros_like(ro.bootstrap), ro.bootstrap
    for k in reversed(range(len(ro.reward))):
        delta = ro.reward[k] + gamma * nxt * ro.cont[k] - ro.value[k].detach()
        run = delta + gamma * lam * ro.cont[k] * run
        adv.append(run)
        nxt = ro.value[k].detach()
    adv = torch.stack(adv[::-1])
    return adv, adv + ro.value.detach()


@torch.no_grad()
def play(policy, n, gen):
    """Greedy episodes; start states come from a private stream so that scores are comparable."""
    device = next(policy.parameters()).device
    s = (torch.rand(n, 4, generator=gen) * 0.1 - 0.05).to(device)
    state = EnvState(s, torch.zeros(n, device=device))
    h, alive, total = policy.initial_state(n), torch.ones(n, device=device), torch.zeros(n)
    for _ in range(MAX_STEPS):
        dist, _, h = policy(observe(state), h)
        state, r, done, _, _ = env_step(state, dist.logits.argmax(-1))
        total += (alive * r).cpu()
        alive = alive * (1.0 - done.float())
    return total


def export_policy(policy, path):
    """Deployment target is the robot's CPU, so sanity check it there."""
    device = next(policy.parameters()).device
    policy.cpu()
    score = play(policy, 8, torch.Generator().manual_seed(0)).mean().item()
    torch.save({"weights": policy.state_dict(), "score": score}, path)
    policy.to(device)
    return score


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=8)
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--horizon", type=int, default=12)
    ap.add_argument("--gamma", type=float, default=0.99)
    ap.add_argument("--lam", type=float, default=0.95)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--export-every", type=int, default=4)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    policy = RecurrentPolicy().to(device)
    opt = torch.optim.RMSprop(policy.parameters(), lr=args.lr)
    state, h = env_reset(args.envs, device), policy.initial_state(args.envs)

    with tempfile.TemporaryDirectory() as tmp:
        for update in range(1, args.updates + 1):
            ro, state, h, lengths = collect(policy, state, h, args.horizon)
            adv, ret = gae(ro, args.gamma, args.lam)
            norm = (adv - adv.mean()) / (adv.std() + 1e-8)
            loss = -(ro.logp * norm).mean() + 0.5 * (ro.value - ret).pow(2).mean() - 0.01 * ro.entropy.mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            opt.step()
            mean_len = sum(lengths) / max(len(lengths), 1)
            print(f"update {update} loss {loss.item():.3f} episodes {len(lengths)} mean length {mean_len:.1f}")
            if update % args.export_every == 0:
                score = export_policy(policy, Path(tmp) / f"policy_{update}.pt")
                check = play(policy, 8, torch.Generator().manual_seed(0)).mean().item()
                print(f"  exported, score {score:.1f} (training device {check:.1f})")


if __name__ == "__main__":
    main()
