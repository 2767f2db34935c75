import collections
import random

import numpy as np
import torch
import torch.nn.functional as F

from networks import DDPGNets
from settings import Settings
from simulation import OUNoise, Tank


class Trainer:
    def __init__(self, settings: Settings):
        self.cfg = settings
        self.env = Tank(settings.seed)
        self.noise = OUNoise(self.env.act_dim, settings.ou_theta, settings.ou_sigma, settings.seed)
        self.nets = DDPGNets(self.env.obs_dim, self.env.act_dim, settings.hidden)
        self.actor_opt = torch.optim.Adam(self.nets.actor.parameters(), lr=settings.actor_lr)
        self.critic_opt = torch.optim.Adam(self.nets.critic.parameters(), lr=settings.critic_lr)
        self.memory = collections.deque(maxlen=2000)
        self.step = 0

    @property
    def device(self) -> torch.device:
        return next(self.nets.parameters()).device

    def to(self, device):
        self.nets.to(device)
        return self

    def state_dict(self):
        return {
            "nets": self.nets.state_dict(),
            "actor_opt": self.actor_opt.state_dict(),
            "critic_opt": self.critic_opt.state_dict(),
            "step": self.step,
        }

    def save(self, path):
        torch.save(self.state_dict(), path)

    def load(self, path):
        state = torch.load(path, map_location="cpu", weights_only=True)
        self.nets.load_state_dict(state["nets"])
        self.actor_opt.load_state_dict(state["actor_opt"])
        self.critic_opt.load_state_dict(state["critic_opt"])
        self.step = state["step"]
        return self

    @torch.no_grad()
    def act(self, obs):
        action = self.nets.actor(torch.from_numpy(obs).to(self.device)).cpu().numpy()
        return np.clip(action + self.noise(), -1, 1).astype(np.float32)

    def sample(self):
        batch = random.sample(self.memory, self.cfg.batch_size)
        return [torch.from_numpy(np.stack(x).astype(np.float32)).to(self.device) for x in zip(*batch)]

    def update(self):
        obs, act, rew, nxt = self.sample()
        with torch.no_grad():
            target = rew + self.cfg.gamma * self.nets.q(nxt, self.nets.actor_target(nxt), target=True)
        critic_loss = F.smooth_l1_loss(self.nets.q(obs, act), target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = -self.nets.q(obs, self.nets.actor(obs)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        self.nets.polyak(self.cfg.polyak)
        return critic_loss.item()

    def fit(self, steps):
        obs, rewards, losses = self.env.reset(), [], []
        for _ in range(steps):
            act = self.act(obs)
            nxt, rew = self.env.step(act)
            self.memory.append((obs, act, np.float32(rew), nxt))
            rewards.append(rew)
            obs = nxt
            self.step += 1
            if len(self.memory) >= self.cfg.warmup:
                losses.append(self.update())
        return float(np.mean(rewards)), float(np.mean(losses))
