import torch.nn as nn

from .registry import BACKBONES


class ScalarHead(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)
        nn.init.normal_(self.out.weight, std=1 / (width + 1) ** 0.5)

    def forward(self, h):
        return self.out(self.norm(h)).squeeze(-1)


class RewardModel(nn.Module):
    """One backbone, one scalar head per attribute."""

    def __init__(self, cfg):
        super().__init__()
        self.backbone = BACKBONES.build(cfg.backbone, vocab=cfg.vocab, width=cfg.width)
        self.weights = dict(cfg.weights)
        self.heads = nn.ModuleDict({name: ScalarHead(cfg.width) for name in cfg.attributes})

    def forward(self, ids, lengths):
        h = self.backbone(ids, lengths)
        return {name: head(h) for name, head in self.heads.items()}

    def combine(self, rewards):
        return sum(self.weights[name] * r for name, r in rewards.items())
