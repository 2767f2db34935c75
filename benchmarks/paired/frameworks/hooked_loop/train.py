import argparse

import torch
from torch import nn

from data import loaders
from loop import BestKeeper, ClipGrad, EmaHook, LossLog, Trainer


def make_model(hidden: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(2, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
        nn.Linear(hidden, hidden), nn.ReLU(),
        nn.Linear(hidden, 3),
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    train, val = loaders(600, args.batch_size, args.seed)
    trainer = Trainer(make_model(args.hidden), nn.CrossEntropyLoss(label_smoothing=0.05),
                      torch.device(args.device))
    ema = EmaHook(decay=0.95)
    for hook in (LossLog(), ema, ClipGrad(1.0), BestKeeper()):
        trainer.add_hook(hook)
    trainer.fit(train, val, args.epochs)
    print("ema accuracy", round(trainer.evaluate(val, ema.shadow)["accuracy"], 3))


if __name__ == "__main__":
    main()
