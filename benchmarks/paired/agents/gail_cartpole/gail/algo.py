import copy

import torch
import torch.nn.functional as F

from .networks import ActorCritic, Discriminator


class GAIL:
    def __init__(self, env, demos, cfg, device):
        self.cfg = cfg
        self.device = device
        self.demos = demos
        self.policy = ActorCritic(env.obs_dim, env.n_actions)
        self.actor_copy = copy.deepcopy(self.policy)
        self.policy.to(device)
        self.disc = Discriminator(env.obs_dim, env.n_actions).to(device)
        self.pi_opt = torch.optim.Adam(self.policy.parameters(), lr=cfg.pi_lr)
        self.d_opt = torch.optim.Adam(self.disc.parameters(), lr=cfg.d_lr)

    def _expert_batch(self):
        s, a = next(self.demos)
        return s.to(self.device, non_blocking=True), a.to(self.device, non_blocking=True)

    def update_discriminator(self, rollout):
        obs, act = rollout.flat()
        pick = torch.randperm(obs.size(0), device=obs.device)[: self.cfg.batch_size]
        fake = self.disc.encode(obs[pick], act[pick])
        e_obs, e_act = self._expert_batch()
        real = self.disc.encode(e_obs, e_act)
        logits = self.disc(torch.cat([real, fake]))
        target = torch.cat([torch.ones(len(real)), torch.zeros(len(fake))]).to(logits.device)
        loss = F.binary_cross_entropy_with_logits(logits, target)
        self.d_opt.zero_grad()
        loss.backward()
        self.d_opt.step()
        acc = ((logits > 0).float() == target).float().mean()
        return loss.item(), acc.item()

    def update_policy(self, rollout):
        cfg = self.cfg
        obs, act = rollout.flat()
        rew = self.disc.reward(obs, act).view_as(rollout.done)
        with torch.no_grad():
            ret = torch.empty_like(rew)
            running = self.policy.value(rollout.last_obs)
            for t in reversed(range(rew.size(0))):
                running = rew[t] + cfg.gamma * (1 - rollout.done[t]) * running
                ret[t] = running
            ret = ret.flatten()
            adv = ret - self.policy.value(obs)
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        dist = self.policy.dist(obs)
        loss = -(dist.log_prob(act) * adv).mean() - cfg.ent * dist.entropy().mean()
        loss = loss + 0.5 * F.mse_loss(self.policy.value(obs), ret)
        self.pi_opt.zero_grad()
        loss.backward()
        self.pi_opt.step()
        return loss.item()
