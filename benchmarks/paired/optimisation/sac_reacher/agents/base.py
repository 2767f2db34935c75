"""Shared plumbing of the off-policy agents."""
import copy

import torch

from networks import SquashedGaussianActor, TwinCritic


class Agent:
    """Something that acts.  ``managed`` names the sub-modules the agent owns."""

    managed = ("actor",)

    def __init__(self, obs_dim, act_dim, hidden, seed=0):
        torch.manual_seed(seed)
        self.obs_dim, self.act_dim = obs_dim, act_dim
        self.actor = SquashedGaussianActor(obs_dim, act_dim, hidden)

    @property
    def device(self):
        return next(self.actor.parameters()).device

    def to(self, device):
        for name in self.managed:
            getattr(self, name).to(device)
        return self

    @torch.no_grad()
    def act(self, observation, deterministic=False):
        obs = torch.as_tensor(observation, dtype=torch.float32, device=self.device)
        action, _ = self.actor(obs.unsqueeze(0), deterministic=deterministic)
        return action.squeeze(0).cpu().numpy()

    def state_dict(self):
        return {name: getattr(self, name).state_dict() for name in self.managed}


class OffPolicyAgent(Agent):
    managed = Agent.managed + ("critic", "critic_target")

    def __init__(self, obs_dim, act_dim, hidden, gamma=0.98, tau=0.02, seed=0):
        super().__init__(obs_dim, act_dim, hidden, seed)
        self.gamma, self.tau = gamma, tau
        self.critic = TwinCritic(obs_dim, act_dim, hidden)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)

    def update(self, batch):
        raise NotImplementedError

    @torch.no_grad()
    def sync_target(self):
        for target, source in zip(self.critic_target.parameters(), self.critic.parameters()):
            target.lerp_(source, self.tau)
