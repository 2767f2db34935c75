"""Toy segmentation: train a tiny conv net, report metrics each epoch."""
import argparse
import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

import metrics

HERE = Path(__file__).resolve().parent


class TinySeg(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.down = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.head = nn.Conv2d(width, classes, 1)
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing="ij")
        self.register_buffer("grid", torch.stack([ys, xs])[None])
        self.pos = nn.Conv2d(2, width, 1)

    def forward(self, x):
        h = F.relu(self.down(x)) + self.pos(self.grid)
        h = F.relu(self.mid(h))
        return F.interpolate(self.head(h), scale_factor=2, mode="nearest")


def images(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    target = torch.randint(classes, (n, 4, 4), generator=g)
    target = target.repeat_interleave(4, 1).repeat_interleave(4, 2)
    palette = torch.rand(classes, 3, generator=g)
    x = palette[target].permute(0, 3, 1, 2) + 0.1 * torch.randn(n, 3, 16, 16, generator=g)
    border = torch.rand(n, 16, 16, generator=g) < 0.05
    return x.contiguous(), target.masked_fill(border, 255)


def batches(x, y, size, device):
    for xs, ys in zip(x.split(size), y.split(size)):
        yield xs.to(device), ys.to(device)


def run_epoch(model, data, size, device, optimizer=None, scores=None):
    model.train(optimizer is not None)
    if scores is not None:
        scores.reset()
    total = torch.zeros((), device=device)
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in batches(*data, size, device):
            logits = model(x)
            loss = F.cross_entropy(logits, y, ignore_index=255)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if scores is not None:
                scores.observe(logits.detach(), y)
            total += loss.detach()
    return total.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=str(HERE / "config.json"))
    ap.add_argument("--epochs", type=int)
    args = ap.parse_args()
    cfg = json.loads(Path(args.config).read_text())
    epochs = args.epochs or cfg["epochs"]
    device = torch.device(cfg["device"] or ("cuda" if torch.cuda.is_available() else "cpu"))

    torch.manual_seed(cfg["seed"])
    classes = cfg["classes"]
    train, val = images(48, classes, 0), images(16, classes, 0)
    model = TinySeg(classes, cfg["width"]).to(device)
    scores = metrics.build(cfg["metrics"], classes).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(epochs):
        loss = run_epoch(model, train, cfg["batch"], device, optimizer)
        run_epoch(model, val, cfg["batch"], device, scores=scores)
        summary = "  ".join(f"{k}={v:.3f}" for k, v in scores.compute().items())
        print(f"epoch {epoch}: loss={loss:.3f}  {summary}")


if __name__ == "__main__":
    main()
