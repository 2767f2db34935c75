import torch
import torch.nn.functional as F

from .utils import RewardFilter, infinite, to_device


class Trainer:
    def __init__(self, policy, discriminator, expert, env_step, device, batch_size=32, horizon=16, n_envs=16):
        self.device = device
        self.policy = policy.to(device)
        self.disc = discriminator.to(device)
        self.expert = infinite(expert, batch_size)
        self.env_step = env_step
        self.batch_size, self.horizon, self.n_envs = batch_size, horizon, n_envs
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.disc_opt = torch.optim.Adam(self.disc.parameters(), lr=1e-3)
        self.filter = RewardFilter()

    @torch.no_grad()
    def rollout(self):
        state = torch.randn(self.n_envs, 2, device=self.device)
        states, actions = [], []
        for _ in range(self.horizon):
            action = self.policy(state).sample()
            states.append(state)
            actions.append(action)
            state = self.env_step(state, action)
        return torch.stack(states), torch.stack(actions)

    def update_discriminator(self, states, actions):
        total = 0.0
        batches = torch.randperm(states.size(0), device=self.device).split(self.batch_size)
        for idx in batches:
            if len(idx) < self.batch_size:
                continue
            expert = to_device(next(self.expert), self.device)
            policy_d = self.disc(states[idx], actions[idx])
            expert_d = self.disc(expert["state"], expert["action"])
            loss = F.binary_cross_entropy_with_logits(expert_d, torch.ones_like(expert_d)) \
                + F.binary_cross_entropy_with_logits(policy_d, torch.zeros_like(policy_d))
            loss = loss + self.disc.compute_grad_pen(expert["state"], expert["action"], states[idx], actions[idx])
            self.disc_opt.zero_grad()
            loss.backward()
            self.disc_opt.step()
            total += loss.item()
        return total / len(batches)

    def update_policy(self, states, actions, gamma=0.9):
        rewards = self.disc.predict_reward(states.flatten(0, 1), actions.flatten(0, 1)).view(states.shape[:2])
        rewards = self.filter(rewards)
        returns = torch.zeros_like(rewards)
        acc = torch.zeros_like(rewards[0])
        for t in reversed(range(self.horizon)):
            acc = rewards[t] + gamma * acc
            returns[t] = acc
        adv = (returns - returns.mean(1, keepdim=True)).flatten().unsqueeze(1)
        logp = self.policy.log_prob(states.flatten(0, 1), actions.flatten(0, 1))
        loss = -(logp * adv).mean()
        self.policy_opt.zero_grad()
        loss.backward()
        self.policy_opt.step()
        return rewards.mean().item()

    def train(self, iterations):
        for it in range(iterations):
            states, actions = self.rollout()
            d_loss = self.update_discriminator(states.flatten(0, 1), actions.flatten(0, 1))
            self.update_policy(states, actions)
            yield it, d_loss, states[-1].norm(dim=1).mean().item()
