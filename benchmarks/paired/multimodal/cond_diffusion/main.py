import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

from callbacks import BestState, LossMeter, WeightAverage
from denoiser import TextConditionedDenoiser
from schedule import CosineSchedule
from trainer import Trainer


def striped_images(n, size=8):
    """Two words per image: orientation (0-1) and phase (2-3)."""
    words = torch.stack([torch.randint(0, 2, (n,)), torch.randint(2, 4, (n,))], dim=1)
    grid = torch.arange(size)
    stripes = torch.where((grid[None] + words[:, 1:]) % 2 == 0, 1.0, -1.0)
    horizontal = stripes[:, None, :, None].expand(n, 1, size, size)
    vertical = stripes[:, None, None, :].expand(n, 1, size, size)
    pick = (words[:, 0] == 0).view(n, 1, 1, 1)
    return torch.where(pick, horizontal, vertical).contiguous(), words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--ema", type=float, default=0.9)
    args = parser.parse_args()

    torch.manual_seed(0)
    data = TensorDataset(*striped_images(args.images))
    loader = DataLoader(data, batch_size=32, shuffle=True)

    model = TextConditionedDenoiser()
    keeper = BestState()
    callbacks = [LossMeter(), WeightAverage(model, args.ema), keeper]
    trainer = Trainer(model, CosineSchedule(), callbacks)
    trainer.fit(loader, args.epochs)

    _, words = striped_images(4)
    pictures = trainer.sample(words, (1, 8, 8))
    print("mean brightness", [round(v, 3) for v in pictures.mean(dim=(1, 2, 3)).tolist()])
    print("best running loss %.4f with %d tensors kept" % (keeper.best, len(keeper.state)))


if __name__ == "__main__":
    main()
