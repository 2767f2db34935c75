"""Recurrent PPO on a cue-recall task. Usage: python ppo_gru.py --updates 10"""
from __future__ import print_function

import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

parser = argparse.ArgumentParser(description="PPO + GRU")
parser.add_argument("--num-envs", type=int, default=8)
parser.add_argument("--horizon", type=int, default=16)
parser.add_argument("--updates", type=int, default=10)
parser.add_argument("--ppo-epochs", type=int, default=2)
parser.add_argument("--clip", type=float, default=0.2)
parser.add_argument("--gamma", type=float, default=0.95)
parser.add_argument("--lam", type=float, default=0.9)
parser.add_argument("--ent", type=float, default=0.01)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--no-cuda", action="store_true", default=False)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

args.cuda = not args.no_cuda and torch.cuda.is_available()
torch.manual_seed(args.seed)
np.random.seed(args.seed)

N_CUES = 3
EP_LEN = 5


class RecallEnv(object):
    """Shows a one-hot cue at t=0, then noise; the agent must name the cue at the last step."""

    def __init__(self, n):
        self.n = n
        self.obs_dim = N_CUES + 1
        self.t = np.zeros(n, dtype=int)
        self.cue = np.zeros(n, dtype=int)

    def _observe(self):
        obs = np.random.randn(self.n, self.obs_dim).astype(np.float32) * 0.1
        first = self.t == 0
        obs[first, self.cue[first]] += 1.0
        obs[self.t == EP_LEN - 1, -1] += 1.0
        return obs

    def reset(self):
        # desynchronised starts
        self.t[:] = np.random.randint(0, EP_LEN, self.n)
        self.cue[:] = np.random.randint(0, N_CUES, self.n)
        return self._observe()

    def step(self, actions):
        last = self.t == EP_LEN - 1
        reward = np.where(last, (actions == self.cue).astype(np.float32), 0.0).astype(np.float32)
        self.t += 1
        self.t[last] = 0
        self.cue[last] = np.random.randint(0, N_CUES, last.sum())
        return self._observe(), reward, last.astype(np.float32)


class Policy(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=32):
        super(Policy, self).__init__()
        self.hidden = hidden
        self.enc = nn.Linear(obs_dim, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.pi = nn.Linear(hidden, n_actions)
        self.v = nn.Linear(hidden, 1)

    def init_hidden(self, n):
        weight = next(self.parameters())
        return weight.new_zeros(n, self.hidden)

    def forward(self, obs, h):
        h = self.gru(F.relu(self.enc(obs)), h)
        return self.pi(h), self.v(h).squeeze(-1), h


env = RecallEnv(args.num_envs)
model = Policy(env.obs_dim, N_CUES)
if args.cuda:
    model.cuda()
optimizer = optim.Adam(model.parameters(), lr=args.lr)


def to_var(x):
    x = torch.from_numpy(x)
    return x.cuda() if args.cuda else x


def collect(obs, h):
    """Roll the policy for one horizon. Everything that GAE needs comes back as numpy."""
    mem = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
    h0 = h.clone()
    for _ in range(args.horizon):
        with torch.no_grad():
            logits, value, h = model(to_var(obs), h)
            dist = Categorical(logits=logits)
            action = dist.sample()
            logp = dist.log_prob(action)
        nobs, rew, done = env.step(action.cpu().numpy())
        mem["obs"].append(obs)
        mem["act"].append(action.cpu().numpy())
        mem["logp"].append(logp.cpu().numpy())
        mem["val"].append(value.cpu().numpy())
        mem["rew"].append(rew)
        mem["done"].append(done)
        h = h * to_var(1.0 - done).unsqueeze(1)
        obs = nobs
    with torch.no_grad():
        _, last_value, _ = model(to_var(obs), h)
    mem = {k: np.stack(v) for k, v in mem.items()}
    return mem, obs, h0, h, last_value.cpu().numpy()


def gae(mem, last_value):
    adv = np.zeros_like(mem["rew"])
    running = np.zeros(args.num_envs, dtype=np.float32)
    nxt = last_value
    for t in reversed(range(args.horizon)):
        mask = 1.0 - mem["done"][t]
        delta = mem["rew"][t] + args.gamma * nxt * mask - mem["val"][t]
        running = delta + args.gamma * args.lam * mask * running
        adv[t] = running
        nxt = mem["val"][t]
    return adv, adv + mem["val"]


def update(mem, h0, adv, ret):
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    obs, act, old = to_var(mem["obs"]), to_var(mem["act"]), to_var(mem["logp"])
    adv, ret, done = to_var(adv), to_var(ret), mem["done"]
    for _ in range(args.ppo_epochs):
        perm = np.random.permutation(args.num_envs)
        for chunk in np.array_split(perm, 2):
            idx = to_var(chunk)
            h = h0[idx]
            fresh = model.init_hidden(len(chunk))
            logps, vals, ents = [], [], []
            for t in range(args.horizon):
                logits, v, h = model(obs[t, idx], h)
                dist = Categorical(logits=logits)
                logps.append(dist.log_prob(act[t, idx]))
                ents.append(dist.entropy())
                vals.append(v)
                ended = to_var(done[t, chunk]).bool().unsqueeze(1)
                h = torch.where(ended, fresh, h)
            logps, vals, ents = torch.stack(logps), torch.stack(vals), torch.stack(ents)
            ratio = torch.exp(logps - old[:, idx])
            a = adv[:, idx]
            surr = torch.min(ratio * a, ratio.clamp(1 - args.clip, 1 + args.clip) * a)
            loss = -surr.mean() + 0.5 * F.mse_loss(vals, ret[:, idx]) - args.ent * ents.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    return loss.item()


if __name__ == "__main__":
    start = time.time()
    obs = env.reset()
    h = model.init_hidden(args.num_envs)
    for it in range(1, args.updates + 1):
        mem, obs, h0, h, last_value = collect(obs, h)
        adv, ret = gae(mem, last_value)
        loss = update(mem, h0, adv, ret)
        acc = mem["rew"].sum() / max(mem["done"].sum(), 1)
        if it % 2 == 0:
            print("update %3d | recall acc %.2f | loss %.3f | %.1fs" % (it, acc, loss, time.time() - start))
