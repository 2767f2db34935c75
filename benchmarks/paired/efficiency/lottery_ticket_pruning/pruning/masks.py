import numpy as np
import torch


def prunable(model):
    for name, p in model.named_parameters():
        if p.dim() > 1 and not name.startswith("fc2"):
            yield name, p


class MaskSet:
    """Binary keep-masks for every prunable weight of a model."""

    def __init__(self, model):
        self.model = model
        self._masks = {name: torch.ones_like(p, dtype=torch.bool) for name, p in prunable(model)}

    @property
    def density(self):
        kept = sum(int(m.sum()) for m in self._masks.values())
        total = sum(m.numel() for m in self._masks.values())
        return kept / total

    @torch.no_grad()
    def shrink(self, fraction):
        """Drop the globally smallest `fraction` of the surviving weights."""
        alive = []
        for name, p in prunable(self.model):
            alive.append(p[self._masks[name]].abs().cpu().numpy())
        threshold = float(np.quantile(np.concatenate(alive), fraction))
        for name, p in prunable(self.model):
            self._masks[name] &= p.abs() > threshold
        return threshold

    @torch.no_grad()
    def apply(self):
        for name, p in prunable(self.model):
            p.mul_(self._masks[name])

    def mask_gradients(self):
        for name, p in prunable(self.model):
            if p.grad is not None:
                p.grad.mul_(self._masks[name])

    def report(self):
        return {name: round(m.float().mean().item(), 3) for name, m in self._masks.items()}

    def state_dict(self):
        return {name: m.cpu() for name, m in self._masks.items()}

    def load_state_dict(self, state):
        for name, p in prunable(self.model):
            self._masks[name] = state[name].to(p.device)
