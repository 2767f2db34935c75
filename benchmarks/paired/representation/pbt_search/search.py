import argparse
import random
import tempfile

import torch

from pbt import hparams
from pbt.scheduler import PBTScheduler
from pbt.worker import Worker


def make_data(n=400):
    teacher = torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
    x = torch.randn(n, 20)
    with torch.no_grad():
        y = (teacher(x) * 4).argmax(1)
    cut = n * 3 // 4
    return {"train": (x[:cut], y[:cut]), "valid": (x[cut:], y[cut:])}


def main(population: int, rounds: int, steps: int, seed: int) -> None:
    torch.manual_seed(seed)
    rng = random.Random(seed)
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    data = make_data()
    with tempfile.TemporaryDirectory(prefix="pbt_") as ckpt_dir:
        workers = [Worker(i, hparams.sample(rng), data, ckpt_dir, device) for i in range(population)]
        best = PBTScheduler(workers, 0.34, rng).run(rounds, steps)
    print("best", round(best.score, 3), {k: round(v, 5) for k, v in best.hp.items()})


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--population", type=int, default=4)
    p.add_argument("--rounds", type=int, default=4)
    p.add_argument("--steps", type=int, default=15)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    main(a.population, a.rounds, a.steps, a.seed)
