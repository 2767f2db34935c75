from typing import Optional

import torch
from torch import Tensor, nn


def kl_divergence(mu: Tensor, logvar: Tensor) -> Tensor:
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()


class ELBO(nn.Module):
    """Negative ELBO with a Bernoulli decoder. `pixel_freq` balances on- and off-pixels."""

    def __init__(self, beta: float, warmup_steps: int, pixel_freq: Optional[Tensor] = None) -> None:
        super().__init__()
        self.beta = beta
        self.warmup_steps = warmup_steps
        self.step = 0
        pos_weight = None
        if pixel_freq is not None:
            pos_weight = ((1 - pixel_freq) / pixel_freq.clamp(min=0.05)).sqrt()
        self.bce = nn.BCEWithLogitsLoss(reduction="none", pos_weight=pos_weight)

    def current_beta(self) -> float:
        return self.beta * min(1.0, self.step / max(1, self.warmup_steps))

    def forward(self, logits: Tensor, x: Tensor, mu: Tensor, logvar: Tensor):
        if self.training:
            self.step += 1
        rec = self.bce(logits, x).flatten(1).sum(1).mean()
        kl = kl_divergence(mu, logvar)
        return rec + self.current_beta() * kl, {"rec": rec.item(), "kl": kl.item()}
