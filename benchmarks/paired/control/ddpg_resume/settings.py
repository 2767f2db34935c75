from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    hidden: int = 32
    actor_lr: float = 1e-3
    critic_lr: float = 2e-3
    gamma: float = 0.97
    polyak: float = 0.98
    batch_size: int = 24
    warmup: int = 40
    steps: int = 100
    ou_theta: float = 0.15
    ou_sigma: float = 0.2
    seed: int = 5
