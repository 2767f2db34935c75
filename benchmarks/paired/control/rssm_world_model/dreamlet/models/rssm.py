from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


@dataclass
class RSSMState:
    mean: torch.Tensor
    std: torch.Tensor
    stoch: torch.Tensor
    deter: torch.Tensor

    @property
    def features(self) -> torch.Tensor:
        return torch.cat([self.deter, self.stoch], dim=-1)

    def dist(self) -> Normal:
        return Normal(self.mean, self.std)

    def detach(self) -> "RSSMState":
        return RSSMState(self.mean.detach(), self.std.detach(), self.stoch.detach(), self.deter.detach())

    @staticmethod
    def stack(states: list[RSSMState]) -> "RSSMState":
        return RSSMState(*(torch.stack([getattr(s, k) for s in states], dim=1)
                           for k in ("mean", "std", "stoch", "deter")))


class RSSM(nn.Module):
    def __init__(self, embed_dim: int, action_dim: int, stoch: int = 8, deter: int = 24, hidden: int = 24):
        super().__init__()
        self.stoch_size = stoch
        self.deter_size = deter
        self.pre = nn.Linear(stoch + action_dim, hidden)
        self.cell = nn.GRUCell(hidden, deter)
        self.prior_net = nn.Sequential(nn.Linear(deter, hidden), nn.ELU(), nn.Linear(hidden, 2 * stoch))
        self.post_net = nn.Sequential(nn.Linear(deter + embed_dim, hidden), nn.ELU(), nn.Linear(hidden, 2 * stoch))

    @property
    def feature_size(self) -> int:
        return self.stoch_size + self.deter_size

    def initial(self, batch_size: int) -> RSSMState:
        device = self.pre.weight.device
        stoch = torch.zeros(batch_size, self.stoch_size, device=device)
        deter = torch.zeros(batch_size, self.deter_size, device=device)
        return RSSMState(stoch, torch.ones_like(stoch), stoch, deter)

    def _state(self, out: torch.Tensor, deter: torch.Tensor) -> RSSMState:
        mean, std = out.chunk(2, dim=-1)
        std = F.softplus(std) + 0.1
        return RSSMState(mean, std, mean + std * torch.randn_like(std), deter)

    def imagine_step(self, prev: RSSMState, action: torch.Tensor) -> RSSMState:
        x = F.elu(self.pre(torch.cat([prev.stoch, action], dim=-1)))
        deter = self.cell(x, prev.deter)
        return self._state(self.prior_net(deter), deter)

    def observe_step(self, prev: RSSMState, action: torch.Tensor, embed: torch.Tensor):
        prior = self.imagine_step(prev, action)
        post = self._state(self.post_net(torch.cat([prior.deter, embed], dim=-1)), prior.deter)
        return prior, post

    def observe(self, embeds: torch.Tensor, actions: torch.Tensor):
        state = self.initial(embeds.shape[0])
        priors, posts = [], []
        for t in range(embeds.shape[1]):
            prior, state = self.observe_step(state, actions[:, t], embeds[:, t])
            priors.append(prior)
            posts.append(state)
        return RSSMState.stack(priors), RSSMState.stack(posts)
