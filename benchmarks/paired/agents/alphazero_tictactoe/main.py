import argparse
import tempfile

import numpy as np
import torch

from coach import Coach
from game import TicTacToe
from net import PolicyValueNet


def get_args():
    p = argparse.ArgumentParser("AlphaZero for tic-tac-toe")
    p.add_argument("--iterations", type=int, default=4)
    p.add_argument("--games", type=int, default=4)
    p.add_argument("--sims", type=int, default=6)
    p.add_argument("--arena-games", type=int, default=4)
    p.add_argument("--threshold", type=float, default=0.6)
    p.add_argument("--window", type=int, default=2000)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return p.parse_args()


if __name__ == "__main__":
    args = get_args()
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    coach = Coach(TicTacToe, PolicyValueNet(), args)
    with tempfile.TemporaryDirectory() as folder:
        n = coach.run(args.iterations, folder)
    print(f"{n} of {args.iterations} candidates accepted")
