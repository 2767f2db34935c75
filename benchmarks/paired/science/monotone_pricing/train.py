import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from pricing import CalibratedLinear, project_monotone
from pricing.simulate import FEATURES, houses


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Monotone house price model")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--knots", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def evaluate(model, dataset, device) -> float:
    x, y = dataset.tensors
    with torch.no_grad():
        return F.mse_loss(model(x.to(device)), y.to(device)).sqrt().item()


def main() -> None:
    args = parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_set, test_set = houses(96, seed=1), houses(200, seed=2)
    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    model = CalibratedLinear(list(FEATURES.values()), args.knots).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            project_monotone(model)
        print(f"epoch {epoch}: train rmse {evaluate(model, train_set, device):.3f} "
              f"test rmse {evaluate(model, test_set, device):.3f} violations {model.violations()}")

    curves = model.calibrators.heights.detach().cpu()
    for name, curve in zip(FEATURES, curves):
        print(f"{name:>10}: " + " ".join(f"{v:+.2f}" for v in curve.tolist()))


if __name__ == "__main__":
    main()
