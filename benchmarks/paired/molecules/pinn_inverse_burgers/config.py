from dataclasses import dataclass, field
from typing import Tuple

import torch


@dataclass
class Problem:
    nu: float = 0.05
    t_max: float = 0.5
    nx: int = 64
    nt: int = 400


@dataclass
class Config:
    problem: Problem = field(default_factory=Problem)
    hidden: Tuple[int, ...] = (20, 20, 20)
    n_data: int = 200
    n_colloc: int = 256
    adam_steps: int = 60
    lbfgs_steps: int = 3
    lr: float = 5e-3
    nu_init: float = 0.2
    seed: int = 3
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
