import torch
import torch.nn.functional as F
from torch import nn

from .base import UncertaintyModel, register, small_cnn


@register("deep_ensemble")
class DeepEnsemble(UncertaintyModel):
    def __init__(self, cfg, n_classes):
        super().__init__(n_classes)
        self.members = nn.ModuleList(
            small_cnn(cfg.width, n_classes) for _ in range(cfg.n_members)
        )

    def samples(self, x):
        return torch.stack([m(x) for m in self.members])

    def configure_optimizers(self, lr):
        return [torch.optim.Adam(m.parameters(), lr=lr) for m in self.members]

    def training_losses(self, x, y):
        for m in self.members:
            keep = torch.randint(len(y), (len(y),), device=y.device)
            yield F.cross_entropy(m(x[keep]), y[keep])
