import torch
import torch.nn as nn


class MagnitudePruner:
    """Global unstructured pruning; the threshold is found over all linear layers together."""

    def __init__(self, model, final, total_steps):
        self.layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
        self.final, self.total = final, max(1, total_steps)
        self.masks = None

    def target(self, step):
        left = 1 - min(1.0, step / self.total)
        return self.final * (1 - left ** 3)

    @torch.no_grad()
    def update(self, step):
        scores = torch.cat([m.weight.abs().flatten() for m in self.layers])
        k = int(self.target(step) * scores.numel())
        if k == 0:
            return
        threshold = scores.kthvalue(k).values
        self.masks = [m.weight.abs() > threshold for m in self.layers]
        self.apply()

    @torch.no_grad()
    def apply(self):
        if self.masks is not None:
            for layer, mask in zip(self.layers, self.masks):
                layer.weight.mul_(mask)

    def sparsity(self):
        zeros = sum((m.weight == 0).sum().item() for m in self.layers)
        return zeros / sum(m.weight.numel() for m in self.layers)
