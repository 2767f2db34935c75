"""torchrun --nproc_per_node=N train.py, or just python train.py"""
import argparse

import torch

from asr import dist
from asr.corpus import loader
from asr.epoch import EpochRunner
from asr.model import CTCNet


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=0.02)
    args = p.parse_args()

    device = dist.setup()
    torch.manual_seed(0)
    model = dist.wrap(CTCNet().to(device), device)
    train_loader = loader(64, args.batch_size, 0, True)
    dev_loader = loader(16, args.batch_size, 1, False)
    train = EpochRunner(model, device, torch.optim.AdamW(model.parameters(), lr=args.lr))
    dev = EpochRunner(model, device)
    try:
        for epoch in range(args.epochs):
            train_loader.sampler.set_epoch(epoch)
            tl, ta = train(train_loader)
            dl, da = dev(dev_loader)
            if dist.is_main():
                print(f"{epoch}: train {tl:.3f}/{ta:.3f}  dev {dl:.3f}/{da:.3f}  [{dist.world_size()} x {device}]")
    finally:
        dist.cleanup()


if __name__ == "__main__":
    main()
