import torch
from torch import nn

from .losses import LOSSES


class GatedFusion(nn.Module):
    def __init__(self, dim, modalities):
        super().__init__()
        self.gates = nn.ModuleDict({m: nn.Linear(dim, dim) for m in modalities})

    def forward(self, features, present):
        total, norm = 0.0, 1e-6
        for name, h in features.items():
            gate = torch.sigmoid(self.gates[name](h)) * present[name].unsqueeze(-1)
            total = total + gate * h
            norm = norm + gate
        return total / norm


class FusionClassifier(nn.Module):
    """Encoders, fusion and the training criteria, all given by the configuration."""

    def __init__(self, cfg, counts):
        super().__init__()
        dim = cfg["dim"]
        self.encoders = nn.ModuleDict({
            name: nn.Sequential(nn.Linear(size, dim), nn.LayerNorm(dim), nn.GELU())
            for name, size in cfg["modalities"].items()
        })
        self.fusion = GatedFusion(dim, cfg["modalities"])
        self.head = nn.Linear(dim, len(counts))
        self.loss_scale = {name: spec.get("coef", 1.0) for name, spec in cfg["losses"].items()}
        self.criteria = nn.ModuleDict({
            name: LOSSES.build({k: v for k, v in spec.items() if k != "coef"}, counts=counts)
            for name, spec in cfg["losses"].items()
        })

    def forward(self, batch):
        features = {name: enc(batch[name]) for name, enc in self.encoders.items()}
        return self.head(self.fusion(features, batch["present"]))

    def losses(self, batch):
        logits = self(batch)
        parts = {name: fn(logits, batch) for name, fn in self.criteria.items()}
        total = sum(self.loss_scale[name] * value for name, value in parts.items())
        return total, {name: value.detach() for name, value in parts.items()}
