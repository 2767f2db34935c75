from abc import ABC, abstractmethod

import torch
from torch import nn

REGISTRY = {}


def register(name):
    def wrap(cls):
        REGISTRY[name] = cls
        cls.registry_name = name
        return cls
    return wrap


def small_cnn(width, n_classes, dropout=0.0):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, width * 2, 3, stride=2, padding=1), nn.BatchNorm2d(width * 2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout),
        nn.Linear(width * 2, n_classes),
    )


class UncertaintyModel(nn.Module, ABC):
    """Every model returns logits of several samples: (S, B, C)."""

    def __init__(self, n_classes):
        super().__init__()
        self.n_classes = n_classes
        self.register_buffer("temperature", torch.ones(()))

    @abstractmethod
    def samples(self, x: torch.Tensor) -> torch.Tensor:
        ...

    @abstractmethod
    def configure_optimizers(self, lr):
        ...

    @abstractmethod
    def training_losses(self, x, y):
        """One loss per optimizer."""

    @torch.no_grad()
    def predict(self, x):
        probs = (self.samples(x) / self.temperature).softmax(-1)
        mean = probs.mean(0)
        total = -(mean * mean.clamp_min(1e-8).log()).sum(-1)
        aleatoric = -(probs * probs.clamp_min(1e-8).log()).sum(-1).mean(0)
        return {"probs": mean, "total": total, "aleatoric": aleatoric, "epistemic": total - aleatoric}
