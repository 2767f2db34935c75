#!/usr/bin/env python
"""Curriculum learning with per-instance data parameters.

Every training example owns a log-temperature that is learnt together with the
network; noisy examples should end up with a high temperature and thus a small
gradient."""
from __future__ import print_function

import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.stats import spearmanr
from torch.utils.data import DataLoader, Dataset


class NoisyRings(Dataset):
    def __init__(self, n, noise_rate, seed=0):
        rng = np.random.RandomState(seed)
        self.label = rng.randint(0, 3, size=n)
        radius = 1.0 + self.label + 0.2 * rng.randn(n)
        angle = rng.uniform(0, 2 * np.pi, size=n)
        self.points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype(np.float32)
        self.flipped = rng.rand(n) < noise_rate
        self.label[self.flipped] = (self.label[self.flipped] + rng.randint(1, 3, self.flipped.sum())) % 3

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.points[i], int(self.label[i]), i


class InstanceTemperatures:
    """One learnable log-temperature per example.

    The full vector may be much larger than the model, so values and momentum
    live in host memory and only the rows of the batch are used in a step."""

    def __init__(self, n, lr, weight_decay, device, bounds=(-2.0, 3.0)):
        self.device = device
        self.lr = lr
        self.weight_decay = weight_decay
        self.bounds = bounds
        self.values = torch.zeros(n, requires_grad=True)
        self.visits = torch.zeros(n, dtype=torch.long)

    def lookup(self, rows):
        self.visits[rows] += 1
        return self.values[rows].to(self.device).exp()

    @torch.no_grad()
    def step(self, rows):
        g = self.values.grad[rows] + self.weight_decay * self.values[rows]
        self.values[rows] -= self.lr * g
        self.values.clamp_(*self.bounds)
        self.values.grad = None

    def numpy(self):
        return self.values.detach().numpy().copy()

    def state_dict(self):
        return {"values": self.values.detach().clone(), "visits": self.visits.clone()}


def build_net(hidden):
    return nn.Sequential(
        nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 3)
    )


def train(args, model, temps, loader, optimizer, epoch, device):
    model.train()
    seen, loss_sum = 0, 0.0
    for batch_idx, (points, label, rows) in enumerate(loader):
        points, label = points.to(device), label.to(device)
        logits = model(points)
        scaled = logits / temps.lookup(rows).unsqueeze(1)
        loss = F.cross_entropy(scaled, label, reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        for p in model.parameters():
            p.grad /= len(rows)
        optimizer.step()
        temps.step(rows)
        seen += len(rows)
        loss_sum += loss.item()
        if batch_idx % args.log_interval == 0:
            print("Epoch {} [{}/{}]\tloss {:.4f}".format(epoch, seen, len(loader.dataset), loss_sum / seen))
    return loss_sum / seen


def test(model, dataset, device):
    model.eval()
    with torch.no_grad():
        logits = model(torch.from_numpy(dataset.points).to(device))
    guess = logits.argmax(1).cpu().numpy()
    return float((guess == dataset.label).mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--noise-rate", type=float, default=0.3)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--temp-lr", type=float, default=0.5)
    parser.add_argument("--temp-wd", type=float, default=1e-3)
    parser.add_argument("--log-interval", type=int, default=4)
    parser.add_argument("--no-cuda", action="store_true", default=False)
    args = parser.parse_args()
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    torch.manual_seed(0)

    train_set = NoisyRings(256, args.noise_rate)
    clean_set = NoisyRings(128, 0.0, seed=1)
    loader = DataLoader(train_set, args.batch_size, shuffle=True, pin_memory=use_cuda)

    model = build_net(args.hidden).to(device)
    temps = InstanceTemperatures(len(train_set), args.temp_lr, args.temp_wd, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)

    for epoch in range(1, args.epochs + 1):
        train(args, model, temps, loader, optimizer, epoch, device)
        rho = spearmanr(temps.numpy(), train_set.flipped).correlation
        print("clean accuracy {:.3f}, temperature/noise correlation {:.3f}".format(
            test(model, clean_set, device), rho))

    with tempfile.TemporaryDirectory() as tmp:
        torch.save({"net": model.state_dict(), "temps": temps.state_dict()}, os.path.join(tmp, "last.pt"))


if __name__ == "__main__":
    main()
