from dataclasses import dataclass, field, fields
import argparse
from typing import Tuple


@dataclass
class ModelConfig:
    dim: int = 24
    heads: int = 2
    layers: int = 1
    max_events: int = 10


@dataclass
class Config:
    model: ModelConfig = field(default_factory=ModelConfig)
    epochs: int = 2
    batch_size: int = 16
    accumulate: int = 2
    lr: float = 3e-3
    loss_weights: Tuple[float, float] = (1.0, 0.3)
    seed: int = 0

    @classmethod
    def from_args(cls, argv=None) -> "Config":
        parser = argparse.ArgumentParser()
        for f in fields(cls):
            if f.type in (int, float):
                parser.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default)
        return cls(**vars(parser.parse_args(argv)))
