import argparse

import torch
from tqdm import trange

from segkit.data import build_loaders
from segkit.engine import evaluate, train_one_epoch
from segkit.model import FCN


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--num-classes", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--device", type=torch.device,
                        default=torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    args = parser.parse_args()

    torch.manual_seed(0)
    train_loader, val_loader = build_loaders(args.batch_size)
    model = FCN(args.num_classes).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in trange(args.epochs, disable=None):
        loss = train_one_epoch(model, train_loader, optimizer, args.device)
        scores = evaluate(model, val_loader, args.num_classes, args.device)
        print(f"[{epoch}] loss {loss:.3f} " + " ".join(f"{k} {v:.3f}" for k, v in scores.items()))


if __name__ == "__main__":
    main()
