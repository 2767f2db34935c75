import copy
import random
from typing import Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


def mlp(*sizes: int) -> nn.Sequential:
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class GaussianActor(nn.Module):
    def __init__(self, obs_dim: int, act_dim: int, hidden: int = 32) -> None:
        super().__init__()
        self.net = mlp(obs_dim, hidden, hidden, 2 * act_dim)

    def forward(self, obs: Tensor) -> Tuple[Tensor, Tensor]:
        mean, log_std = self.net(obs).chunk(2, dim=-1)
        std = log_std.clamp(LOG_STD_MIN, LOG_STD_MAX).exp()
        dist = torch.distributions.Normal(mean, std)
        u = dist.rsample()
        action = torch.tanh(u)
        log_prob = dist.log_prob(u) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class TwinQ(nn.Module):
    def __init__(self, obs_dim: int, act_dim: int, hidden: int = 32) -> None:
        super().__init__()
        self.q1 = mlp(obs_dim + act_dim, hidden, hidden, 1)
        self.q2 = mlp(obs_dim + act_dim, hidden, hidden, 1)

    def forward(self, obs: Tensor, act: Tensor) -> Tuple[Tensor, Tensor]:
        x = torch.cat([obs, act], dim=-1)
        return self.q1(x), self.q2(x)


class Replay:
    def __init__(self, capacity: int, obs_dim: int, act_dim: int) -> None:
        self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.next_obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.act = np.zeros((capacity, act_dim), dtype=np.float32)
        self.rew = np.zeros((capacity, 1), dtype=np.float32)
        self.capacity, self.n = capacity, 0

    def add(self, o, a, r, o2) -> None:
        i = self.n % self.capacity
        self.obs[i], self.act[i], self.rew[i], self.next_obs[i] = o, a, r, o2
        self.n += 1

    def sample(self, batch: int, device: torch.device):
        idx = np.random.randint(0, min(self.n, self.capacity), size=batch)
        return tuple(torch.as_tensor(x[idx], device=device) for x in (self.obs, self.act, self.rew, self.next_obs))


class SAC:
    def __init__(self, obs_dim: int, act_dim: int, device: torch.device, lr: float = 3e-4,
                 gamma: float = 0.99, tau: float = 0.005) -> None:
        self.device, self.gamma, self.tau = device, gamma, tau
        self.actor = GaussianActor(obs_dim, act_dim).to(device)
        self.critic = TwinQ(obs_dim, act_dim).to(device)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.target_entropy = -float(act_dim)
        self.log_alpha = torch.tensor([np.log(0.2)], dtype=torch.float32, device=device, requires_grad=True)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=lr)

    @property
    def alpha(self) -> Tensor:
        return self.log_alpha.exp()

    @torch.no_grad()
    def act(self, obs: np.ndarray) -> np.ndarray:
        obs_t = torch.as_tensor(obs, dtype=torch.float32, device=self.device)
        action, _ = self.actor(obs_t[None])
        return action[0].cpu().numpy()

    def update(self, obs: Tensor, act: Tensor, rew: Tensor, next_obs: Tensor) -> dict:
        with torch.no_grad():
            next_act, next_logp = self.actor(next_obs)
            q_next = torch.min(*self.critic_target(next_obs, next_act)) - self.alpha * next_logp
            target = rew + self.gamma * q_next
        q1, q2 = self.critic(obs, act)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        new_act, logp = self.actor(obs)
        actor_loss = (self.alpha.detach() * logp - torch.min(*self.critic(obs, new_act))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        alpha_loss = -(self.log_alpha * (logp + self.target_entropy).detach()).mean()
        self.alpha_opt.zero_grad()
        alpha_loss.backward()
        self.alpha_opt.step()

        with torch.no_grad():
            for p, tp in zip(self.critic.parameters(), self.critic_target.parameters()):
                tp.lerp_(p, self.tau)
        return {"critic": critic_loss.item(), "actor": actor_loss.item(), "alpha": self.alpha.item()}


def dynamics(obs: np.ndarray, act: np.ndarray):
    """damped oscillator with a force"""
    x, v = obs
    v = 0.95 * v - 0.1 * x + 0.2 * act[0]
    x = x + 0.1 * v
    return np.array([x, v], dtype=np.float32), -(x * x + 0.1 * v * v)


def main() -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    agent = SAC(obs_dim=2, act_dim=1, device=device)
    replay = Replay(1000, 2, 1)
    obs = np.random.randn(2).astype(np.float32)
    for step in range(80):
        action = np.random.uniform(-1, 1, size=1) if step < 32 else agent.act(obs)
        next_obs, reward = dynamics(obs, action)
        replay.add(obs, action, reward, next_obs)
        obs = next_obs if step % 20 else np.random.randn(2).astype(np.float32)
        if step >= 32:
            logs = agent.update(*replay.sample(16, device))
            if step % 16 == 0:
                print(step, {k: round(v, 4) for k, v in logs.items()})


if __name__ == "__main__":
    main()
