import copy

import torch

from rlhf.functional import move, pair_logp


class FrozenReference:
    """The starting policy. It can live on another device to leave memory to the policy;
    answers come back where they are wanted."""

    def __init__(self, policy, device="cpu"):
        self.device = torch.device(device)
        self.net = copy.deepcopy(policy).to(self.device).eval().requires_grad_(False)

    @torch.no_grad()
    def logp(self, batch, like):
        chosen, rejected = pair_logp(self.net, move(batch, self.device))
        return chosen.to(like), rejected.to(like)
