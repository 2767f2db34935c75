import argparse

import numpy as np
import torch
import torch.nn.functional as F

from continual import STRATEGIES
from models import MLP
from stream import permuted_stream


def get_device(name):
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    hits = [(model(x.to(device)).argmax(1).cpu() == y).float() for x, y in loader]
    return torch.cat(hits).mean().item()


def train_task(model, strategy, loader, optimizer, epochs, device):
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            x, y = strategy.extend_batch(x.to(device), y.to(device))
            loss = F.cross_entropy(model(x), y) + strategy.penalty()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def run(name, args, device):
    torch.manual_seed(args.seed)
    model = MLP([32, 48, 48, 5]).to(device)
    strategy = STRATEGIES[name](model, device, lam=args.lam)
    acc = np.full((args.tasks, args.tasks), np.nan)
    tests = []
    for task_id, train_loader, test_loader in permuted_stream(args.tasks):
        tests.append(test_loader)
        strategy.before_task(task_id)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        train_task(model, strategy, train_loader, optimizer, args.epochs, device)
        strategy.after_task(task_id, train_loader)
        for j, t in enumerate(tests):
            acc[task_id, j] = accuracy(model, t, device)
    forgetting = np.nanmean(np.nanmax(acc, axis=0) - acc[-1])
    print(f"{name:>10}: final {np.nanmean(acc[-1]):.3f}  forgetting {forgetting:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lam", type=float, default=50.0)
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES), choices=list(STRATEGIES))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for name in args.strategies:
        run(name, args, get_device(args.device))
