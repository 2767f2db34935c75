from dataclasses import dataclass, field

import torch


@dataclass
class MetaConfig:
    epochs: int = 2
    shots: int = 5
    queries: int = 10
    meta_batch: int = 8
    inner_steps: int = 1
    inner_lr: float = 0.01
    meta_lr: float = 1e-3
    width: int = 32
    device: torch.device = field(
        default_factory=lambda: torch.device("cuda" if torch.cuda.is_available() else "cpu"))
