import random
from dataclasses import asdict, dataclass, replace

import torch


@dataclass(frozen=True)
class TrialSettings:
    lr: float = 1e-3
    width: int = 16
    dropout: float = 0.0
    sparsity: float = 0.5
    batch_size: int = 16
    seed: int = 0
    device: str = "cpu"

    def describe(self):
        return " ".join(f"{k}={v:.2g}" if isinstance(v, float) else f"{k}={v}" for k, v in asdict(self).items()
                        if k not in ("seed", "device"))


SPACE = {
    "lr": lambda r: 10 ** r.uniform(-3, -1.5),
    "width": lambda r: r.choice([16, 24, 32]),
    "dropout": lambda r: r.uniform(0.0, 0.3),
    "sparsity": lambda r: r.choice([0.3, 0.5, 0.7]),
    "batch_size": lambda r: r.choice([8, 16]),
}


def base_settings(args):
    device = args.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return TrialSettings(seed=args.seed, device=device)


def sample_trials(base, n, rng=None):
    rng = rng or random.Random(base.seed)
    for _ in range(n):
        values = {name: draw(rng) for name, draw in SPACE.items()}
        yield replace(base, **values)
