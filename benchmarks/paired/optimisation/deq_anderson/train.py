import argparse
from dataclasses import fields

import torch
import torch.nn.functional as F
from torch import nn

from data import loaders
from deq import Cell, Equilibrium
from settings import Settings
from solvers import compare_on_linear


def parse():
    parser = argparse.ArgumentParser()
    for f in fields(Settings):
        if f.type in (int, float):
            parser.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default)
    parser.add_argument("--skip-check", action="store_true")
    options = vars(parser.parse_args())
    skip = options.pop("skip_check")
    return Settings(**options), skip


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    confusion = torch.zeros(2)
    for x, y in loader:
        hits = model(x.to(device)).argmax(1).cpu() == y
        confusion += torch.tensor([hits.sum(), hits.numel()])
    return (confusion[0] / confusion[1]).item()


def main():
    settings, skip = parse()
    torch.manual_seed(settings.seed)
    if not skip:
        for name, (steps, error) in compare_on_linear(settings=settings.forward).items():
            print(f"check {name}: {steps} steps, error {error:.1e}")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, test = loaders(settings)
    layer = Equilibrium(Cell(settings.inputs, settings.hidden), settings.forward, settings.backward)
    model = nn.Sequential(layer, nn.Linear(settings.hidden, settings.classes)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr)
    for epoch in range(settings.epochs):
        model.train()
        for x, y in train:
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy(model, test, device):.3f} steps {layer.steps}")


if __name__ == "__main__":
    main()
