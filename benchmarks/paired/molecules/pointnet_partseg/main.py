import argparse
import logging
import tempfile

import torch
from torch.utils.data import DataLoader

from losses import PartSegLoss
from pointnet import PointNetSeg
from shapes import PARTS, LampParts
from trainer import Trainer


def get_args():
    ap = argparse.ArgumentParser(description="PointNet part segmentation on synthetic lamps")
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch_size", type=int, default=8)
    ap.add_argument("--num_points", type=int, default=128)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--no_cuda", action="store_true", default=False)
    ap.add_argument("--seed", type=int, default=0)
    return ap.parse_args()


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(args.seed)
    cuda = not args.no_cuda and torch.cuda.is_available()

    train = LampParts(32, args.num_points, args.seed, augment=True)
    val = LampParts(12, args.num_points, args.seed + 100)
    loaders = {
        "train": DataLoader(train, args.batch_size, shuffle=True, drop_last=True, pin_memory=cuda),
        "val": DataLoader(val, args.batch_size, pin_memory=cuda),
    }
    freq = train.label_frequencies()
    logging.info("part frequencies: %s", [round(f, 3) for f in freq.tolist()])

    with tempfile.TemporaryDirectory() as out:
        Trainer(
            PointNetSeg(len(PARTS)),
            PartSegLoss(freq),
            loaders,
            PARTS,
            args.lr,
            out,
            torch.device("cuda" if cuda else "cpu"),
        ).fit(args.epochs)


if __name__ == "__main__":
    main()
