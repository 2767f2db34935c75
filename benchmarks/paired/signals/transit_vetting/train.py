import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, random_split

from lightcurves import Survey, ThresholdCrossings
from network import VettingNet


def run_epoch(model, loader, device, optimizer=None):
    model.train(optimizer is not None)
    scores, labels, losses = [], [], []
    with torch.set_grad_enabled(optimizer is not None):
        for batch in loader:
            label = batch.pop("label")
            logits = model(**{k: v.to(device) for k, v in batch.items()})
            loss = F.binary_cross_entropy_with_logits(logits, label.to(device))
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
            scores.append(logits.detach().sigmoid().cpu())
            labels.append(label)
    correct = (torch.cat(scores) > 0.5).float() == torch.cat(labels)
    return sum(losses) / len(losses), correct.float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--candidates", type=int, default=256)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = ThresholdCrossings(args.candidates, Survey())
    train, test = random_split(data, [0.75, 0.25])
    model = VettingNet({"global": 101, "local": 41}).to(device)
    print(model.views)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss, acc = run_epoch(model, DataLoader(train, 32, shuffle=True), device, optimizer)
        val_loss, val_acc = run_epoch(model, DataLoader(test, 64), device)
        print(f"epoch {epoch}: loss {loss:.4f} acc {acc:.3f} | val {val_loss:.4f} acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
