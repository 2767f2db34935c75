import numpy as np
import torch
import torch.nn as nn


class MagnitudePruner:
    """Global magnitude pruning. The threshold is a percentile over all layers, so masks are
    computed in numpy and kept there; apply() has to be called after every optimizer step."""

    def __init__(self, model, skip=()):
        self.targets = {
            name: m for name, m in model.named_modules()
            if isinstance(m, (nn.Linear, nn.Conv2d)) and name not in skip
        }
        self.masks = {name: np.ones(tuple(m.weight.shape), dtype=np.float32) for name, m in self.targets.items()}

    def update_masks(self, sparsity):
        flat = np.concatenate([np.abs(m.weight.detach().cpu().numpy()).ravel() for m in self.targets.values()])
        threshold = np.percentile(flat, 100 * sparsity)
        for name, m in self.targets.items():
            w = m.weight.detach().cpu().numpy()
            self.masks[name] = np.where(np.abs(w) <= threshold, 0.0, self.masks[name]).astype(np.float32)

    def apply(self):
        for name, m in self.targets.items():
            mask = torch.from_numpy(self.masks[name])
            m.weight.data.mul_(mask.to(m.weight.device))

    def sparsity(self):
        zero = sum((m.weight == 0).sum().item() for m in self.targets.values())
        total = sum(m.weight.numel() for m in self.targets.values())
        return zero / total

    def report(self):
        for name, m in self.targets.items():
            kept = (m.weight != 0).sum().item()
            print('  {:<10s} {:>6d} / {:>6d} ({:.1%})'.format(name, kept, m.weight.numel(), kept / m.weight.numel()))
