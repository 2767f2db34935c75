import argparse

import torch
from torch import nn

from reweight import Trainer
from reweight.data import get_loaders

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Training with noisy labels, sample re-weighting")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--warmup-epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--no-cuda", action="store_true", default=False)
    args = parser.parse_args()

    use_cuda = not args.no_cuda and torch.cuda.is_available()
    torch.manual_seed(2)
    train_loader, test_loader = get_loaders(batch_size=32)
    net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    Trainer(net, train_loader, test_loader, args.lr, args.warmup_epochs,
            torch.device("cuda" if use_cuda else "cpu")).run(args.epochs)
