"""REINFORCE with a learned value baseline on a small point-mass task.

usage: python train.py --episodes 200 --lr 3e-3
"""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--episodes', type=int, default=12)
    parser.add_argument('--horizon', type=int, default=25)
    parser.add_argument('--gamma', type=float, default=0.98)
    parser.add_argument('--lr', type=float, default=3e-3)
    parser.add_argument('--hidden', type=int, default=32)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--no-cuda', action='store_true', default=False)
    args = parser.parse_args()
    args.cuda = not args.no_cuda and torch.cuda.is_available()
    args.device = torch.device('cuda' if args.cuda else 'cpu')
    return args


class PointMass:
    """2d point with velocity, must go to the origin."""

    obs_dim, act_dim = 4, 2

    def __init__(self, horizon, rng):
        self.horizon = horizon
        self.rng = rng

    def reset(self):
        self.t = 0
        self.pos = self.rng.uniform(-1, 1, size=2)
        self.vel = np.zeros(2)
        return self._obs()

    def _obs(self):
        return np.concatenate([self.pos, self.vel]).astype(np.float32)

    def step(self, action):
        action = np.clip(action, -1, 1)
        self.vel = 0.9 * self.vel + 0.1 * action
        self.pos = self.pos + self.vel
        self.t += 1
        reward = -float(np.abs(self.pos).sum()) - 0.01 * float((action ** 2).sum())
        return self._obs(), reward, self.t >= self.horizon


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, act_dim)
        self.log_std = nn.Parameter(torch.zeros(act_dim) - 0.5)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Normal(self.mu(h), self.log_std.exp()), self.v(h).squeeze(-1)


def discount(rewards, gamma):
    out, acc = [], 0.0
    for r in reversed(rewards):
        acc = r + gamma * acc
        out.append(acc)
    return out[::-1]


def rollout(env, policy, args):
    obs, done = env.reset(), False
    log_probs, values, rewards = [], [], []
    while not done:
        x = torch.from_numpy(obs).unsqueeze(0).to(args.device)
        dist, value = policy(x)
        action = dist.sample()
        log_probs.append(dist.log_prob(action).sum(-1))
        values.append(value)
        obs, reward, done = env.step(action.squeeze(0).cpu().numpy())
        rewards.append(reward)
    return torch.cat(log_probs), torch.cat(values), rewards


def explained_variance(returns, values):
    var = np.var(returns)
    return np.nan if var == 0 else 1 - np.var(returns - values) / var


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    if args.cuda:
        torch.cuda.manual_seed(args.seed)
    env = PointMass(args.horizon, np.random.RandomState(args.seed))
    policy = Policy(env.obs_dim, env.act_dim, args.hidden).to(args.device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=args.lr)

    running = None
    for episode in range(args.episodes):
        log_probs, values, rewards = rollout(env, policy, args)
        returns = torch.tensor(discount(rewards, args.gamma), dtype=torch.float32, device=args.device)
        advantage = returns - values.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)

        policy_loss = -(log_probs * advantage).mean()
        value_loss = (returns - values).pow(2).mean()
        optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        optimizer.step()

        total = sum(rewards)
        running = total if running is None else 0.95 * running + 0.05 * total
        if (episode + 1) % 4 == 0:
            ev = explained_variance(returns.cpu().numpy(), values.detach().cpu().numpy())
            print('episode {:4d}  return {:8.2f}  running {:8.2f}  ev {:6.3f}'.format(
                episode + 1, total, running, ev))


if __name__ == '__main__':
    main()
