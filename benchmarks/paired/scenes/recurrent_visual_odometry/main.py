import argparse
import logging
import tempfile

import torch
from torch.utils.data import DataLoader

from datasets.drive import SyntheticDrive
from models.vonet import VONet
from trainer import Trainer


def get_args():
    p = argparse.ArgumentParser("recurrent visual odometry")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--rot-weight", type=float, default=10.0)
    p.add_argument("--val-every", type=int, default=3)
    p.add_argument("--out", default=None)
    p.add_argument("--device", default=None)
    args = p.parse_args()
    args.device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    return args


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="[%(name)s] %(message)s")
    torch.manual_seed(1)
    loader = DataLoader(SyntheticDrive(seed=0), batch_size=None, shuffle=False)
    with tempfile.TemporaryDirectory() as tmp:
        args.out = args.out or tmp
        Trainer(VONet(), loader, SyntheticDrive(n_drives=2, seed=7), args).fit()


if __name__ == "__main__":
    main()
