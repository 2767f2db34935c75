import argparse
import logging
import tempfile

import torch

from solver import Solver


def str2bool(v):
    return v.lower() in ("true", "1", "yes")


def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=str, default="train", choices=["train", "test"])
    parser.add_argument("--model", type=str, default="deepspeech")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--use_gpu", type=str2bool, default=True)
    parser.add_argument("--resume", type=str, default=None)
    parser.add_argument("--save_path", type=str, default=None)
    parser.add_argument("--seed", type=int, default=11)
    return parser


def main(config):
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(config.seed)
    config.save_path = config.save_path or tempfile.mkdtemp(prefix="asr_")
    solver = Solver(config)
    if config.mode == "train":
        solver.train()
    solver.test()


if __name__ == "__main__":
    main(get_parser().parse_args())
