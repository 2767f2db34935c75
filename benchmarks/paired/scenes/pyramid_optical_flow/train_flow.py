import argparse

import torch
from torch.utils.data import DataLoader

from flow import EPEOnHost, FlowTrainer, LRLogger, PyramidFlow
from flow.dataset import AffineTextures


def get_device(name=None):
    if name:
        return torch.device(name)
    return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--device")
    args = parser.parse_args()
    torch.manual_seed(5)
    train = DataLoader(AffineTextures(24), batch_size=8, shuffle=True)
    val = DataLoader(AffineTextures(8, seed=1), batch_size=4)
    trainer = FlowTrainer(PyramidFlow(), get_device(args.device), args.lr, [EPEOnHost(val), LRLogger()])
    trainer.fit(train, args.epochs)
