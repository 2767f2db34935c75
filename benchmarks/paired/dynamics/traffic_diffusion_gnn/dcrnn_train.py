import argparse
import logging
import random

import torch

from supervisor import Supervisor

DEFAULTS = dict(
    sensors=dict(num_nodes=12, hours=48, seed=0),
    history=6, horizon=3, batch_size=16, hidden=8, diffusion_order=2,
    lr=1e-2, epochs=10, decay=50.0, max_windows=None,
)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=DEFAULTS["epochs"])
    parser.add_argument("--max_windows", type=int, default=None)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    Supervisor({**DEFAULTS, "epochs": args.epochs, "max_windows": args.max_windows}).train()


if __name__ == "__main__":
    main()
