from dataclasses import dataclass, field
from typing import Dict, Tuple

import torch


@dataclass
class RewardConfig:
    backbone: str = "gru"
    vocab: int = 40
    width: int = 24
    attributes: Tuple[str, ...] = ("helpful", "harmless", "concise")
    weights: Dict[str, float] = field(default_factory=lambda: {"helpful": 1.0, "harmless": 0.7, "concise": 0.3})
    loss: str = "bradley_terry"
    lr: float = 3e-3
    batch_size: int = 8
    epochs: int = 1
    amp: bool = True
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    @property
    def use_amp(self):
        return self.amp and self.device.startswith("cuda")
