import torch
import torch.nn as nn


class Network(nn.Module):
    def __init__(self, num_obs, num_actions, units=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(num_obs, units), nn.ELU(), nn.Linear(units, units), nn.ELU())
        self.mu = nn.Linear(units, num_actions)
        self.sigma = nn.Parameter(torch.zeros(num_actions))
        self.value = nn.Linear(units, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.distributions.Normal(self.mu(h), self.sigma.exp()), self.value(h).squeeze(-1)


class A2CAgent:
    def __init__(self, env, horizon=16, mini_epochs=2, gamma=0.97, tau=0.95, e_clip=0.2, lr=1e-3):
        self.env, self.horizon, self.mini_epochs = env, horizon, mini_epochs
        self.gamma, self.tau, self.e_clip = gamma, tau, e_clip
        self.device = env.rl_device
        self.model = Network(env.num_obs, env.num_actions).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.obs = env.reset()

    def play_steps(self):
        traj = {k: [] for k in ("obs", "actions", "neglogp", "values", "rewards", "dones")}
        with torch.no_grad():
            for _ in range(self.horizon):
                dist, value = self.model(self.obs)
                action = dist.sample()
                obs, rewards, dones = self.env.step(action)
                step = (self.obs, action, -dist.log_prob(action).sum(-1), value, rewards, dones.float())
                for k, v in zip(traj, step):
                    traj[k].append(v)
                self.obs = obs
            _, last_value = self.model(self.obs)
        traj = {k: torch.stack(v) for k, v in traj.items()}
        adv = torch.zeros_like(traj["rewards"])
        lastgaelam = 0
        for t in reversed(range(self.horizon)):
            nextvalues = last_value if t == self.horizon - 1 else traj["values"][t + 1]
            alive = 1.0 - traj["dones"][t]
            delta = traj["rewards"][t] + self.gamma * nextvalues * alive - traj["values"][t]
            adv[t] = lastgaelam = delta + self.gamma * self.tau * alive * lastgaelam
        traj["returns"] = adv + traj["values"]
        traj["advantages"] = (adv - adv.mean()) / (adv.std() + 1e-8)
        return traj

    def train_epoch(self):
        traj = {k: v.flatten(0, 1) for k, v in self.play_steps().items()}
        for _ in range(self.mini_epochs):
            dist, values = self.model(traj["obs"])
            ratio = (traj["neglogp"] + dist.log_prob(traj["actions"]).sum(-1)).exp()
            surr = torch.min(traj["advantages"] * ratio,
                             traj["advantages"] * ratio.clamp(1 - self.e_clip, 1 + self.e_clip))
            loss = -surr.mean() + 0.5 * (values - traj["returns"]).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        return traj["rewards"].mean().item(), traj["dones"].sum().item()
