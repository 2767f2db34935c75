from dataclasses import dataclass, field
from typing import List

import torch


@dataclass
class DistillConfig:
    num_classes: int = 10
    image_size: int = 16
    batch_size: int = 16
    teacher_widths: List[int] = field(default_factory=lambda: [24, 32, 48])
    student_widths: List[int] = field(default_factory=lambda: [8, 12])
    teacher_epochs: int = 1
    student_epochs: int = 2
    temperature: float = 4.0
    alpha: float = 0.7
    hint_weight: float = 0.1
    lr: float = 3e-3
    seed: int = 0

    @property
    def device(self) -> torch.device:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
