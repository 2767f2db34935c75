"""Iterative magnitude pruning with weight rewinding."""
import argparse
import json
import logging
import tempfile

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from dataset import gratings
from models import SmallConvNet, count_parameters
from pruning import MaskSet, RewindPoint

logger = logging.getLogger("imp")


def get_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rounds", default=3, type=int)
    p.add_argument("--epochs", default=2, type=int)
    p.add_argument("--rate", default=0.3, type=float, help="fraction pruned per round")
    p.add_argument("--rewind-step", default=2, type=int)
    p.add_argument("--bs", default=40, type=int)
    p.add_argument("--lr", default=0.05, type=float)
    p.add_argument("--no-cuda", action="store_true")
    return p.parse_args()


def train_round(model, masks, loader, rewind, args, device):
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    step = 0
    for _ in range(args.epochs):
        model.train()
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            masks.mask_gradients()
            opt.step()
            step += 1
            if step == args.rewind_step and not rewind.taken:
                rewind.take(model)
    return loss.item()


@torch.no_grad()
def test(model, loader, device):
    model.eval()
    hits = 0
    for x, y in loader:
        pred = model(x.to(device)).argmax(1)
        hits += pred.eq(y.to(device)).sum().item()
    return hits / len(loader.dataset)


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format="[%(name)s] %(message)s")
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")

    train_set, test_set = gratings()
    train_loader = DataLoader(train_set, batch_size=args.bs, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=args.bs)

    model = SmallConvNet()
    model.to(device)
    masks = MaskSet(model)
    logger.info("%d parameters", count_parameters(model))

    history = []
    with tempfile.TemporaryDirectory() as tmp:
        rewind = RewindPoint(tmp)
        for r in range(args.rounds):
            loss = train_round(model, masks, train_loader, rewind, args, device)
            acc = test(model, test_loader, device)
            history.append({"round": r, "density": masks.density, "loss": loss, "acc": acc})
            logger.info("round %d density %.3f loss %.3f acc %.3f", r, masks.density, loss, acc)
            torch.save(masks.state_dict(), f"{tmp}/masks_{r}.pth")
            masks.shrink(args.rate)
            rewind.restore(model)
            masks.apply()
    logger.info("per layer %s", json.dumps(masks.report()))


if __name__ == "__main__":
    main()
