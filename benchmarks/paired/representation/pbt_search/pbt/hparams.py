import math
import random
from typing import Dict

SPACE = {
    "lr": (1e-3, 0.3),
    "momentum": (0.5, 0.97),
    "weight_decay": (1e-6, 1e-2),
}


def sample(rng: random.Random) -> Dict[str, float]:
    return {k: math.exp(rng.uniform(math.log(lo), math.log(hi))) for k, (lo, hi) in SPACE.items()}


def explore(hp: Dict[str, float], rng: random.Random) -> Dict[str, float]:
    out = {}
    for k, (lo, hi) in SPACE.items():
        out[k] = min(hi, max(lo, hp[k] * rng.choice([0.8, 1.25])))
    return out
