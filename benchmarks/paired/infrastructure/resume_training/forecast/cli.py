import argparse

import torch
from torch import nn

from . import checkpoint
from .data import loaders
from .model import Forecaster


def get_parser():
    p = argparse.ArgumentParser(prog="forecast-train")
    p.add_argument("--out", required=True, help="folder for checkpoints; training resumes from it")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--cpu", action="store_true")
    return p


def train_epoch(model, loader, optimizer, loss_fn, device):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()


@torch.no_grad()
def validate(model, loader, loss_fn, device):
    model.eval()
    total = sum(loss_fn(model(x.to(device)), y.to(device)).item() * len(x) for x, y in loader)
    return total / len(loader.dataset)


def main(argv=None):
    args = get_parser().parse_args(argv)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")

    train_loader, valid_loader = loaders(seed=args.seed)
    model = Forecaster(args.hidden)
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    start, best = checkpoint.load(args.out, model=model, optimizer=optimizer, scheduler=scheduler)
    if start:
        print(f"resuming at epoch {start}, best {best:.5f}")

    loss_fn = nn.SmoothL1Loss()
    for epoch in range(start, args.epochs):
        train_epoch(model, train_loader, optimizer, loss_fn, device)
        val = validate(model, valid_loader, loss_fn, device)
        scheduler.step()
        best = min(best, val)
        print(f"epoch {epoch}: val {val:.5f}  lr {scheduler.get_last_lr()[0]:.2e}")
        checkpoint.save(args.out, model=model, optimizer=optimizer, scheduler=scheduler,
                        epoch=epoch, best=best)
    return best
