import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from hardware import estimate_energy
from snn import PoissonPatterns, SpikingClassifier, reset_net


def collate_time_first(items):
    spikes, labels = zip(*items)
    return torch.stack(spikes, dim=1), torch.stack(labels)


def loss_fn(potential, target):
    """Cross entropy on the maximum over time plus a small penalty on late potentials."""
    return F.cross_entropy(potential.max(dim=0).values, target) + 1e-3 * potential[-1].pow(2).mean()


def accuracy(net, loader, device):
    net.eval()
    hits = torch.zeros((), dtype=torch.long)
    with torch.no_grad():
        for spikes, labels in loader:
            reset_net(net)
            pred = net(spikes.to(device)).max(dim=0).values.argmax(1)
            hits += (pred.cpu() == labels).sum()
    net.train()
    return hits.item() / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--device", type=torch.device,
                    default=torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    args = ap.parse_args()
    torch.manual_seed(0)

    train = DataLoader(PoissonPatterns(64), args.batch, shuffle=True, drop_last=True, collate_fn=collate_time_first)
    test = DataLoader(PoissonPatterns(32, seed=1), args.batch, collate_fn=collate_time_first)
    probe, _ = next(iter(test))

    net = SpikingClassifier(24, args.hidden, 3).to(args.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    print(f"initial energy {estimate_energy(net, probe):.3f} uJ/sample")
    for epoch in range(args.epochs):
        running = 0.0
        for spikes, labels in train:
            spikes, labels = spikes.to(args.device), labels.to(args.device)
            reset_net(net)
            loss = loss_fn(net(spikes), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        energy = estimate_energy(net, probe)
        acc = accuracy(net, test, args.device)
        print(f"epoch {epoch}: loss {running / len(train):.3f} acc {acc:.2f} energy {energy:.3f} uJ/sample")


if __name__ == "__main__":
    main()
