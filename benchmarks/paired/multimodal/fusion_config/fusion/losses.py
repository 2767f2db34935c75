import torch
from torch import nn
import torch.nn.functional as F

from .registry import Registry

LOSSES = Registry()


@LOSSES.register
class BalancedCE(nn.Module):
    """Cross entropy weighted with the effective number of samples of every class."""

    def __init__(self, counts, beta=0.99):
        super().__init__()
        counts = torch.as_tensor(counts, dtype=torch.float32)
        weight = (1 - beta) / (1 - beta ** counts)
        self.register_buffer("weight", weight / weight.mean())

    def forward(self, logits, batch):
        return F.cross_entropy(logits, batch["label"], weight=self.weight)


@LOSSES.register
class OrdinalSeverity(nn.Module):
    """Squared distance between the expected and the true grade."""

    def __init__(self, counts):
        super().__init__()
        self.register_buffer("grades", torch.arange(len(counts), dtype=torch.float32), persistent=False)

    def forward(self, logits, batch):
        expected = (logits.softmax(-1) * self.grades).sum(-1)
        return F.mse_loss(expected, batch["label"].to(expected.dtype))


@LOSSES.register
class Confidence(nn.Module):
    """Entropy bonus with a plain number as the scale."""

    def __init__(self, counts, scale=0.01):
        super().__init__()
        self.scale = scale

    def forward(self, logits, batch):
        logp = logits.log_softmax(-1)
        return self.scale * (logp.exp() * logp).sum(-1).mean()
