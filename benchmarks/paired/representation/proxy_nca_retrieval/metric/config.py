from dataclasses import dataclass, field

import torch


def _default_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Config:
    n_classes: int = 12
    per_class: int = 20
    in_dim: int = 40
    embed_dim: int = 16
    batch_size: int = 48
    epochs: int = 4
    lr_embed: float = 1e-3
    lr_proxy: float = 1e-1
    scale: float = 3.0
    seed: int = 0
    device: str = field(default_factory=_default_device)
