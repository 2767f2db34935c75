import torch
from torch import nn


def trunk(n_in: int, hidden: int, n_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_in, hidden), nn.LayerNorm(hidden), nn.ReLU(),
        nn.Linear(hidden, hidden), nn.ReLU(),
        nn.Linear(hidden, n_out),
    )


class DDPGNets(nn.Module):
    """All four networks in one module so that they are moved and saved together."""

    def __init__(self, obs_dim: int, act_dim: int, hidden: int):
        super().__init__()
        self.actor = nn.Sequential(trunk(obs_dim, hidden, act_dim), nn.Tanh())
        self.critic = trunk(obs_dim + act_dim, hidden, 1)
        self.actor_target = nn.Sequential(trunk(obs_dim, hidden, act_dim), nn.Tanh())
        self.critic_target = trunk(obs_dim + act_dim, hidden, 1)
        self.actor_target.load_state_dict(self.actor.state_dict())
        self.critic_target.load_state_dict(self.critic.state_dict())
        for p in [*self.actor_target.parameters(), *self.critic_target.parameters()]:
            p.requires_grad_(False)

    def q(self, obs, act, target=False):
        net = self.critic_target if target else self.critic
        return net(torch.cat([obs, act], dim=-1)).squeeze(-1)

    @torch.no_grad()
    def polyak(self, rho: float):
        for net, tgt in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            torch._foreach_mul_(list(tgt.parameters()), rho)
            torch._foreach_add_(list(tgt.parameters()), list(net.parameters()), alpha=1 - rho)
