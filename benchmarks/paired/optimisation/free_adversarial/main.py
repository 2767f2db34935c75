import argparse

import torch

from data import Blobs, loader
from model import classifier
from trainer import FreeAdversarialTrainer, Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["plain", "free"], default="free")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--epsilon", type=float, default=0.08)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--no-cuda", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    train = loader(Blobs(512, seed=1), args.batch_size, shuffle=True)
    test = loader(Blobs(128, seed=2), args.batch_size, shuffle=False)
    if args.mode == "free":
        trainer = FreeAdversarialTrainer(classifier(), train, test, device, args.epsilon)
    else:
        trainer = Trainer(classifier(), train, test, device)
    for epoch in range(args.epochs):
        loss = trainer.run_epoch()
        print(f"epoch {epoch} loss {loss:.3f} clean {trainer.evaluate():.3f} "
              f"robust {trainer.evaluate(args.epsilon):.3f} {trainer.describe()}")


if __name__ == "__main__":
    main()
