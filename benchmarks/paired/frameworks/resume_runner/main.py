"""Trains, is interrupted once, and goes on from the last checkpoint."""
import argparse
import tempfile
from dataclasses import dataclass

import torch

import rng
from checkpoint import CheckpointManager
from runner import Preempted, Runner


@dataclass
class Config:
    vocab: int = 12
    dim: int = 24
    batch: int = 16
    length: int = 10
    steps: int = 30
    save_every: int = 5
    lr: float = 1e-2


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=30)
    ap.add_argument("--preempt-at", type=int, default=13)
    ap.add_argument("--folder")
    args = ap.parse_args()
    cfg = Config(steps=args.steps)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or scratch
        rng.seed_everything(1)
        stop_at = args.preempt_at
        for attempt in range(3):
            runner = Runner(cfg, CheckpointManager(folder), device)
            if runner.resume():
                print(f"attempt {attempt}: resumed at step {runner.step}")
            try:
                smooth = runner.run(stop_at)
            except Preempted as stop:
                print(f"attempt {attempt}: preempted at step {stop}")
                stop_at = None
                continue
            drift = runner.average.distance(runner.model)
            print(f"done: loss {smooth:.3f}, distance to average {drift:.3f}")
            break


if __name__ == "__main__":
    main()
