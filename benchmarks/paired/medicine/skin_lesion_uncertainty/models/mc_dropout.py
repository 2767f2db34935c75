import torch
import torch.nn.functional as F
from torch import nn

from .base import UncertaintyModel, register, small_cnn


@register("mc_dropout")
class MCDropout(UncertaintyModel):
    def __init__(self, cfg, n_classes):
        super().__init__(n_classes)
        self.net = small_cnn(cfg.width, n_classes, cfg.dropout)
        self.n_samples = cfg.mc_samples

    def samples(self, x):
        for m in self.net.modules():
            if isinstance(m, nn.Dropout):
                m.train()
        return torch.stack([self.net(x) for _ in range(self.n_samples)])

    def configure_optimizers(self, lr):
        return [torch.optim.Adam(self.net.parameters(), lr=lr)]

    def training_losses(self, x, y):
        yield F.cross_entropy(self.net(x), y)
