import argparse
import json
import pathlib

import torch
from torch.utils.data import DataLoader

from scenes.model import build
from scenes.tiles import CLOUDY, Tiles

HERE = pathlib.Path(__file__).resolve().parent


def accuracy(model, loader, device):
    right = seen = 0
    with torch.inference_mode():
        for image, targets in loader:
            guess = model(image.to(device))["cover"].argmax(1).cpu()
            clear = targets["cover"] != CLOUDY
            right += (guess == targets["cover"])[clear].sum().item()
            seen += clear.sum().item()
    return right / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", type=pathlib.Path, default=HERE / "settings.json")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    settings = json.loads(args.settings.read_text())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train = Tiles(settings["tiles"], settings["tile"], seed=1)
    test = Tiles(settings["tiles"] // 4, settings["tile"], seed=2)
    model = build(settings, train.statistics(), device)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["lr"])
    loader = DataLoader(train, settings["batch"], shuffle=True)
    for epoch in range(args.epochs):
        total = 0.0
        for image, targets in loader:
            targets = {k: v.to(device) for k, v in targets.items()}
            loss = model.loss(model(image.to(device)), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        score = accuracy(model, DataLoader(test, 16), device)
        print(f"epoch {epoch}: loss {total / len(loader):.4f}, accuracy {score:.3f}")


if __name__ == "__main__":
    main()
