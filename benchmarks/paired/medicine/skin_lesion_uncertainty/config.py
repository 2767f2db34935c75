from dataclasses import dataclass, field
from typing import List, Optional

import torch


@dataclass
class DataConfig:
    n_train: int = 48
    n_calib: int = 24
    n_test: int = 24
    size: int = 16
    batch_size: int = 12


@dataclass
class ModelConfig:
    name: str = "deep_ensemble"
    n_members: int = 3
    width: int = 8
    dropout: float = 0.2
    mc_samples: int = 4


@dataclass
class RunConfig:
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    epochs: int = 2
    lr: float = 3e-3
    seed: int = 11
    classes: List[str] = field(default_factory=lambda: ["nevus", "melanoma", "keratosis"])
    device: Optional[str] = None

    def torch_device(self) -> torch.device:
        if self.device:
            return torch.device(self.device)
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
