import collections

import torch
import torch.nn as nn


class DistributionAlignment(nn.Module):
    """p(y) of the labelled data over a running mean of the predictions."""

    def __init__(self, prior, window=8):
        super().__init__()
        self.register_buffer("prior", prior)
        self.history = collections.deque(maxlen=window)

    def forward(self, probs):
        self.history.append(probs.mean(0).detach())
        running = torch.stack(list(self.history)).mean(0)
        probs = probs * (self.prior + 1e-6) / (running + 1e-6)
        return probs / probs.sum(1, keepdim=True)
