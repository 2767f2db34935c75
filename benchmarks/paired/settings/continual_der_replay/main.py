import argparse

import numpy as np
import torch
from torch import nn

from methods import METHODS, get_method
from utils.scenario import ClassIncremental, augment


def get_device():
    return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def accuracy(model, loader):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model.predict(x.to(model.device)).cpu() == y).sum().item()
            total += y.numel()
    model.train()
    return correct / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--method", choices=sorted(METHODS), default="derpp")
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--buffer_size", type=int, default=30)
    ap.add_argument("--minibatch", type=int, default=12)
    ap.add_argument("--alpha", type=float, default=0.3)
    ap.add_argument("--beta", type=float, default=0.5)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    scenario = ClassIncremental(seed=args.seed)
    backbone = nn.Sequential(nn.Linear(scenario.dim, 32), nn.ReLU(), nn.Linear(32, scenario.num_classes))
    model = get_method(args.method, backbone=backbone, num_classes=scenario.num_classes,
                       args=args, device=get_device())

    results = np.full((scenario.num_tasks, scenario.num_tasks), np.nan)
    test_loaders = []
    for task, train_loader, test_loader in scenario:
        model.begin_task(task)
        test_loaders.append(test_loader)
        for epoch in range(args.epochs):
            for x, y in train_loader:
                x, y = x.to(model.device), y.to(model.device)
                loss = model.meta_observe(augment(x), x, y)
        model.end_task(task)
        for j, loader in enumerate(test_loaders):
            results[task, j] = accuracy(model, loader)
        print(f"task {task} loss {loss:.3f} acc {np.round(results[task, :task + 1], 2).tolist()}")

    forgetting = np.mean(np.nanmax(results[:-1, :-1], axis=0) - results[-1, :-1])
    print(f"final acc {results[-1].mean():.3f}  forgetting {forgetting:.3f}")


if __name__ == "__main__":
    main()
