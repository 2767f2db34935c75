import argparse
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

from callbacks import Evaluate, Printer, Saver
from datasets import Rings, WeakStrong
from trainer import FixMatchTrainer


def build_net(dim, classes, width=32):
    return nn.Sequential(
        nn.Linear(dim, width), nn.BatchNorm1d(width), nn.LeakyReLU(0.1),
        nn.Linear(width, width), nn.BatchNorm1d(width), nn.LeakyReLU(0.1),
        nn.Linear(width, classes),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--mu", type=int, default=3, help="unlabelled / labelled batch ratio")
    parser.add_argument("--batch-size", type=int, default=12)
    parser.add_argument("--threshold", type=float, default=0.7)
    parser.add_argument("--lambda-u", type=float, default=1.0)
    parser.add_argument("--ema-decay", type=float, default=0.95)
    opts = parser.parse_args()
    torch.manual_seed(3)

    aug = WeakStrong()
    lab = Rings(24, transform=aug, seed=0)
    unl = Rings(150, transform=aug, seed=1)
    prior = torch.bincount(lab.y, minlength=3).float() / len(lab)

    with tempfile.TemporaryDirectory() as tmp:
        ev = Evaluate(DataLoader(Rings(90, seed=2), batch_size=45), every=10)
        saver = Saver(tmp)
        trainer = FixMatchTrainer(
            build_net(6, 3),
            DataLoader(lab, opts.batch_size, shuffle=True, drop_last=True),
            DataLoader(unl, opts.batch_size * opts.mu, shuffle=True, drop_last=True),
            prior, opts, callbacks=[Printer(5), ev, saver],
        )
        trainer.train()
        final = build_net(6, 3)
        final.load_state_dict(torch.load(saver.path))
    print("best", round(ev.best, 3), "| params", sum(p.numel() for p in final.parameters()))


if __name__ == "__main__":
    main()
