import argparse
from pathlib import Path

import torch
import yaml

from fusion import FusionClassifier


def make_records(cfg, n, seed):
    g = torch.Generator().manual_seed(seed)
    prior = torch.tensor([0.5, 0.25, 0.15, 0.1])[: cfg["classes"]]
    label = torch.multinomial(prior, n, replacement=True, generator=g)
    fixed = torch.Generator().manual_seed(77)
    data = {"label": label, "present": {}}
    for name, size in cfg["modalities"].items():
        centres = torch.randn(cfg["classes"], size, generator=fixed)
        data[name] = centres[label] + 0.8 * torch.randn(n, size, generator=g)
        data["present"][name] = (torch.rand(n, generator=g) > cfg["missing"]).float()
    return data


def tree(fn, node):
    if isinstance(node, dict):
        return {k: tree(fn, v) for k, v in node.items()}
    return fn(node)


def iterate(data, size, device):
    n = len(data["label"])
    for pick in torch.randperm(n).split(size):
        yield tree(lambda t: t[pick].to(device), data)


@torch.no_grad()
def confusion(model, data, classes, device):
    model.eval()
    table = torch.zeros(classes, classes, dtype=torch.long)
    for batch in iterate(data, 64, device):
        guess = model(batch).argmax(-1)
        flat = batch["label"] * classes + guess
        table += torch.bincount(flat, minlength=classes ** 2).view(classes, classes).cpu()
    model.train()
    return table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, default=Path(__file__).parent / "config.yaml")
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    cfg = yaml.safe_load(args.config.read_text())

    torch.manual_seed(cfg["seed"])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, test = make_records(cfg, 256, 1), make_records(cfg, 96, 2)
    counts = torch.bincount(train["label"], minlength=cfg["classes"]).tolist()

    model = FusionClassifier(cfg, counts).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["optim"]["lr"])
    for epoch in range(args.epochs):
        log = {}
        for batch in iterate(train, cfg["optim"]["batch_size"], device):
            total, parts = model.losses(batch)
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            for name, value in parts.items():
                log.setdefault(name, []).append(value)
        means = {k: round(torch.stack(v).mean().item(), 4) for k, v in log.items()}
        print("epoch", epoch, means)

    table = confusion(model, test, cfg["classes"], device)
    print("balanced accuracy %.3f" % (table.diag() / table.sum(1).clamp_min(1)).mean().item())


if __name__ == "__main__":
    main()
