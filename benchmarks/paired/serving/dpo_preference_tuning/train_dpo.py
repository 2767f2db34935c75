import argparse
import tempfile

import torch

from data.preferences import PreferencePairs
from models.gpt import GPT, GPTConfig
from trainer import DPOTrainer
from utils.misc import set_seed


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--n-pairs", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--beta", type=float, default=0.1)
    p.add_argument("--label-smoothing", type=float, default=0.0)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def main():
    args = parse_args()
    set_seed(args.seed)
    cfg = GPTConfig()
    trainer = DPOTrainer(GPT(cfg), PreferencePairs(args.n_pairs, cfg.vocab_size), args, torch.device(args.device))
    trainer.train()
    with tempfile.TemporaryDirectory() as tmp:
        print("saved", trainer.save(tmp))


if __name__ == "__main__":
    main()
