import argparse
import json
import logging
import os
import tempfile
from dataclasses import asdict

import torch

from search.halving import successive_halving
from search.settings import base_settings, sample_trials
from search.task import WindowLM


def main():
    parser = argparse.ArgumentParser(description="successive halving over learning rate, width and sparsity")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--eta", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--quiet", action="store_true")
    args = parser.parse_args()
    logging.basicConfig(level=logging.WARNING if args.quiet else logging.INFO, format="%(message)s")

    base = base_settings(args)
    settings, scores, weights = successive_halving(sample_trials(base, args.trials), args.eta)
    with tempfile.TemporaryDirectory() as out:
        with open(os.path.join(out, "best.json"), "w") as f:
            json.dump({"settings": asdict(settings), "scores": scores}, f, indent=1)
        torch.save(weights, os.path.join(out, "best.pt"))

        model = WindowLM(settings.width, settings.dropout).eval()
        model.load_state_dict(torch.load(os.path.join(out, "best.pt")))
    zeros = (model.hidden.weight == 0).float().mean().item()
    print(f"best: {settings.describe()}; val {scores[-1]:.4f}, {zeros:.0%} of the hidden weights are zero")


if __name__ == "__main__":
    main()
