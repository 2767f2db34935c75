import torch

from .modeling import token_logprobs
from .offload import device_of, evaluating, offloaded
from .rewards import score


class GRPOTrainer:
    """Group-relative policy optimisation. Policy, reference and reward model take turns on the card."""

    def __init__(self, policy, reference, reward_model, optimizer, cfg):
        self.policy = policy
        self.reference = reference
        self.reward_model = reward_model
        self.optimizer = optimizer
        self.cfg = cfg
        self.log = []

    def rollout(self, prompts):
        prompts = prompts.repeat_interleave(self.cfg.group_size, dim=0).to(device_of(self.policy))
        with evaluating(self.policy):
            ids = self.policy.generate(prompts, self.cfg.new_tokens)
            old = token_logprobs(self.policy, ids, prompts.size(1))
        return ids, old, prompts.size(1)

    def judge(self, ids, prompt_len):
        with offloaded(self.policy, self.cfg.offload), evaluating(self.reference):
            ref = token_logprobs(self.reference, ids.to(device_of(self.reference)), prompt_len)
            rewards = score(ids[:, prompt_len:].tolist(), self.reward_model)
        return ref, rewards

    def advantages(self, rewards):
        grouped = rewards.view(-1, self.cfg.group_size)
        adv = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        return adv.flatten()

    def step(self, prompts):
        ids, old, prompt_len = self.rollout(prompts)
        ref, rewards = self.judge(ids, prompt_len)
        device = device_of(self.policy)
        ids, old, ref = ids.to(device), old.to(device), ref.to(device)
        adv = self.advantages(rewards).to(device).unsqueeze(1)
        for _ in range(self.cfg.inner_epochs):
            new = token_logprobs(self.policy, ids, prompt_len)
            ratio = (new - old).exp()
            clipped = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip)
            kl = (ref - new).exp() - (ref - new) - 1
            loss = (-torch.min(ratio * adv, clipped * adv) + self.cfg.beta * kl).mean()
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
        self.log.append({"reward": rewards.mean().item(), "kl": kl.mean().item(), "loss": loss.item()})
        return self.log[-1]
