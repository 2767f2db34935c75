import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from detector import Search
from strain import Segments


def train(model, loader, device, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        total = 0.0
        for strain, label in loader:
            label = label.to(device, torch.float32)
            loss = F.binary_cross_entropy_with_logits(model(strain.to(device)), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


@torch.no_grad()
def rank(model, loader, device):
    stats, labels = [], []
    for strain, label in loader:
        stats.append(model(strain.to(device)).cpu())
        labels.append(label)
    stats, labels = torch.cat(stats), torch.cat(labels)
    order = stats.argsort(descending=True)
    return labels[order], stats


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--segments", type=int, default=256)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    data = Segments(args.segments, seed=1)
    held_out = Segments(args.segments // 4, seed=2)
    print("loudest training segment:", data.loudest())
    model = Search(data.asd, data.rate).to(device)
    train(model, DataLoader(data, 32, shuffle=True), device, args.epochs)
    ranked, stats = rank(model, DataLoader(held_out, 32), device)
    top = ranked[: len(ranked) // 2]
    print(f"purity of the upper half {top.double().mean():.3f}, loudest statistic {stats.max():.3f}")


if __name__ == "__main__":
    main()
