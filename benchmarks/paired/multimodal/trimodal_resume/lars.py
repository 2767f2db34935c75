"""LARS with momentum, as used for large-batch contrastive training."""
import torch
from torch.optim import Optimizer


class LARS(Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.9, weight_decay=1e-4, trust=0.02):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, trust=trust))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                update = p.grad
                if p.ndim > 1:
                    update = update.add(p, alpha=group["weight_decay"])
                    ratio = group["trust"] * p.norm() / update.norm().clamp_min(1e-8)
                    update = update * ratio.clamp(max=10.0)
                state = self.state[p]
                if "mu" not in state:
                    state["mu"] = torch.zeros_like(p)
                state["mu"].mul_(group["momentum"]).add_(update)
                p.add_(state["mu"], alpha=-group["lr"])

    def export_momentum(self):
        """Momentum by position, on the host and in half the size."""
        flat = [p for g in self.param_groups for p in g["params"]]
        return [self.state[p]["mu"].to("cpu", torch.bfloat16) if p in self.state else None for p in flat]

    def import_momentum(self, saved):
        flat = [p for g in self.param_groups for p in g["params"]]
        for p, mu in zip(flat, saved, strict=True):
            if mu is not None:
                self.state[p]["mu"] = mu.to(p)
