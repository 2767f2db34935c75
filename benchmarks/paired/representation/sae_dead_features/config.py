from dataclasses import dataclass

import torch


@dataclass
class SAEConfig:
    vocab: int = 50
    ctx: int = 12
    d_model: int = 32
    expansion: int = 4
    layer: int = 1
    l1: float = 3e-3
    lr: float = 2e-3
    buffer_batches: int = 8
    batch_size: int = 96
    steps: int = 60
    dead_after: int = 15
    resample_every: int = 25
    seed: int = 5

    @property
    def n_features(self) -> int:
        return self.d_model * self.expansion

    @property
    def device(self) -> torch.device:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
