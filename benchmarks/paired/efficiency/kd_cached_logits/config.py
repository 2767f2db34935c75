import argparse
from dataclasses import dataclass, field
from typing import Optional


@dataclass
class Config:
    num_classes: int = 6
    input_dim: int = 20
    num_train: int = 192
    num_val: int = 64
    batch_size: int = 32
    teacher_epochs: int = 2
    epochs: int = 3
    teacher_width: int = 64
    student_width: int = 12
    lr: float = 3e-3
    temperature: float = 4.0
    alpha: float = 0.7
    seed: int = 7
    device: Optional[str] = None
    milestones: list = field(default_factory=lambda: [2])


def parse_config() -> Config:
    parser = argparse.ArgumentParser("Offline knowledge distillation")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--teacher-epochs", type=int)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--device", type=str)
    parser.add_argument("--seed", type=int)
    ns = parser.parse_args()
    overrides = {k: v for k, v in vars(ns).items() if v is not None}
    return Config(**overrides)
