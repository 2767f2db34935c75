from dataclasses import dataclass, field
from typing import List

import torch


@dataclass
class NERConfig:
    labels: List[str] = field(default_factory=lambda: ["O", "PER", "ORG", "LOC"])
    vocab_size: int = 150
    char_vocab: int = 30
    word_dim: int = 24
    char_dim: int = 8
    hidden: int = 24
    dropout: float = 0.2
    batch_size: int = 16
    epochs: int = 6
    lr: float = 3e-2
    seed: int = 5
    no_cuda: bool = False

    @property
    def device(self) -> torch.device:
        use = torch.cuda.is_available() and not self.no_cuda
        return torch.device("cuda" if use else "cpu")
