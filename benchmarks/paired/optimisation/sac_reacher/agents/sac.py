import torch
import torch.nn.functional as F

from networks import Temperature

from .base import OffPolicyAgent


class SACAgent(OffPolicyAgent):
    """Soft actor-critic with a learned temperature."""

    managed = OffPolicyAgent.managed + ("temperature",)

    def __init__(self, obs_dim, act_dim, hidden=64, lr=1e-3, **kwargs):
        super().__init__(obs_dim, act_dim, hidden, **kwargs)
        self.temperature = Temperature(0.1)
        self.target_entropy = -float(act_dim)
        self.optimizers = {
            "critic": torch.optim.Adam(self.critic.parameters(), lr=lr),
            "actor": torch.optim.Adam(self.actor.parameters(), lr=lr),
            "temperature": torch.optim.Adam(self.temperature.parameters(), lr=lr),
        }

    def _apply(self, name, loss):
        optimizer = self.optimizers[name]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def _critic_loss(self, batch):
        with torch.no_grad():
            next_action, next_logp = self.actor(batch["next_obs"])
            soft_q = self._soft_value(batch["next_obs"], next_action, next_logp)
            target = batch["reward"] + self.gamma * (1 - batch["done"]) * soft_q
        q1, q2 = self.critic(batch["obs"], batch["action"])
        return F.mse_loss(q1, target) + F.mse_loss(q2, target)

    def _soft_value(self, obs, action, logp):
        q = torch.min(*self.critic_target(obs, action))
        return q - self.temperature() * logp

    def update(self, batch):
        stats = {"critic": self._apply("critic", self._critic_loss(batch))}
        action, logp = self.actor(batch["obs"])
        q = torch.min(*self.critic(batch["obs"], action))
        alpha = self.temperature().detach()
        stats["actor"] = self._apply("actor", (alpha * logp - q).mean())
        gap = (logp + self.target_entropy).detach()
        stats["temperature"] = self._apply("temperature", -(self.temperature() * gap).mean())
        self.sync_target()
        return {name: value.item() for name, value in stats.items()}
