import copy
import random

import torch
import torch.nn.functional as F
from torch import nn


class DuelingQNet(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, n_actions)

    def forward(self, x):
        h = self.trunk(x)
        adv = self.advantage(h)
        return self.value(h) + adv - adv.mean(dim=1, keepdim=True)


class DQNAgent:
    def __init__(self, obs_dim, n_actions, device, lr=1e-3, gamma=0.97, tau=0.05):
        self.device = device
        self.n_actions = n_actions
        self.gamma = gamma
        self.tau = tau
        self.q = DuelingQNet(obs_dim, n_actions).to(device)
        self.q_target = copy.deepcopy(self.q)
        for p in self.q_target.parameters():
            p.requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=lr)

    @torch.no_grad()
    def act(self, obs, epsilon=0.0):
        if random.random() < epsilon:
            return random.randrange(self.n_actions)
        where = next(self.q.parameters()).device
        x = torch.from_numpy(obs).unsqueeze(0).to(where)
        return self.q(x).argmax(dim=1).item()

    def update(self, batch):
        batch = batch.to(self.device)
        q = self.q(batch.obs).gather(1, batch.action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.q(batch.next_obs).argmax(dim=1, keepdim=True)
            next_q = self.q_target(batch.next_obs).gather(1, best).squeeze(1)
            target = batch.reward + self.gamma * (1.0 - batch.done) * next_q
        loss = F.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 10.0)
        self.optimizer.step()
        with torch.no_grad():
            for p, tp in zip(self.q.parameters(), self.q_target.parameters()):
                tp.lerp_(p, self.tau)
        return loss.item()
