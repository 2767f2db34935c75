from dataclasses import dataclass, field
from typing import List, Optional

import torch


@dataclass
class PoolConfig:
    n_pool: int = 160
    n_test: int = 80
    n_features: int = 10
    n_classes: int = 4
    initial: int = 16


@dataclass
class Config:
    pool: PoolConfig = field(default_factory=PoolConfig)
    strategy: str = "coreset"
    rounds: int = 3
    budget: int = 12
    epochs: int = 6
    batch_size: int = 16
    lr: float = 0.01
    mc_samples: int = 5
    dropout: float = 0.3
    hidden: List[int] = field(default_factory=lambda: [32, 24])
    device: Optional[str] = None
    seed: int = 0

    def __post_init__(self):
        if self.device is None:
            self.device = "cuda" if torch.cuda.is_available() else "cpu"
