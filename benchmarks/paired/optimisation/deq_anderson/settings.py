from dataclasses import dataclass, field


@dataclass
class SolverSettings:
    memory: int = 4
    max_iter: int = 20
    tol: float = 1e-4
    ridge: float = 1e-4
    beta: float = 1.0


@dataclass
class Settings:
    classes: int = 4
    inputs: int = 12
    hidden: int = 32
    samples: int = 512
    batch_size: int = 64
    epochs: int = 3
    lr: float = 5e-3
    seed: int = 0
    forward: SolverSettings = field(default_factory=SolverSettings)
    backward: SolverSettings = field(default_factory=lambda: SolverSettings(max_iter=15, tol=1e-3))
