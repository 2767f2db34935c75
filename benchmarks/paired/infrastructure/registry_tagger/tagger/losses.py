import torch
from torch import nn

from tagger.registry import LOSSES


@LOSSES.register
class WeightedBCE(nn.Module):
    """Multi-label BCE with one positive weight for each tag."""

    def __init__(self, pos_weight=None, reduction="mean"):
        super().__init__()
        if pos_weight is not None:
            pos_weight = torch.as_tensor(pos_weight, dtype=torch.float32)
        self.bce = nn.BCEWithLogitsLoss(pos_weight=pos_weight, reduction=reduction)

    def forward(self, logits, tags):
        return self.bce(logits, tags)


@LOSSES.register
class AsymmetricLoss(nn.Module):
    def __init__(self, gamma_neg=4.0, gamma_pos=1.0, clip=0.05):
        super().__init__()
        self.gn, self.gp, self.clip = gamma_neg, gamma_pos, clip

    def forward(self, logits, tags):
        p = logits.sigmoid()
        pm = (p - self.clip).clamp(min=0)
        pos = tags * (1 - p) ** self.gp * p.clamp(min=1e-8).log()
        neg = (1 - tags) * pm ** self.gn * (1 - pm).clamp(min=1e-8).log()
        return -(pos + neg).mean()
