import torch
from torch import nn

from .policy import ActorCritic


class PPO:
    def __init__(self, policy: ActorCritic, env, stats, *, steps=24, epochs=3, minibatches=4, gamma=0.97, lam=0.95,
                 clip=0.2, lr=2e-3):
        self.policy, self.env, self.stats = policy, env, stats
        self.steps, self.epochs, self.minibatches = steps, epochs, minibatches
        self.gamma, self.lam, self.clip = gamma, lam, clip
        self.optim = torch.optim.Adam(policy.parameters(), lr=lr)
        self.obs = env.reset()

    @torch.no_grad()
    def collect(self):
        buf = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
        for _ in range(self.steps):
            act, logp, val = self.policy(self.obs)
            nxt, rew, done = self.env.step(act.cpu().numpy())
            for k, v in zip(buf, (self.obs, act, logp, val, rew, done)):
                buf[k].append(v.to(self.policy.device))
            self.obs = nxt
        data = {k: torch.stack(v) for k, v in buf.items()}
        _, _, last = self.policy(self.obs)
        adv = torch.zeros_like(data["rew"])
        acc = torch.zeros_like(last)
        for t in reversed(range(self.steps)):
            nxt = last if t == self.steps - 1 else data["val"][t + 1]
            alive = 1 - data["done"][t]
            delta = data["rew"][t] + self.gamma * alive * nxt - data["val"][t]
            acc = delta + self.gamma * self.lam * alive * acc
            adv[t] = acc
        data["adv"], data["ret"] = adv, adv + data["val"]
        return {k: v.flatten(0, 1) for k, v in data.items()}

    def train_iteration(self):
        data = self.collect()
        n = data["rew"].numel()
        for _ in range(self.epochs):
            for idx in torch.randperm(n, device=self.policy.device).chunk(self.minibatches):
                mb = {k: v[idx] for k, v in data.items()}
                _, logp, val = self.policy(mb["obs"], mb["act"])
                adv = (mb["adv"] - mb["adv"].mean()) / (mb["adv"].std() + 1e-8)
                ratio = (logp - mb["logp"]).exp()
                surrogate = torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv)
                loss = -surrogate.mean() + 0.5 * nn.functional.mse_loss(val, mb["ret"])
                self.optim.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
                self.optim.step()
        self.stats.update(data["obs"].cpu())
        self.policy.sync_stats()
        return data["rew"].mean().item()
