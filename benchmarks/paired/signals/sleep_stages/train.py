import argparse
import functools

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from evaluate import evaluate
from feed import HOST_FIELDS, DeviceFeed
from nights import IGNORE, cohort, collate
from stager import Stager

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--nights", type=int, default=32)
parser.add_argument("--ahead", action="store_true")


def main(args):
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    load = functools.partial(DataLoader, batch_size=8, collate_fn=collate)
    feed = DeviceFeed(load(cohort(args.nights, 1), shuffle=True), device, HOST_FIELDS, args.ahead)
    held_out = load(cohort(args.nights // 4, 2))
    model = Stager().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for batch in feed:
            logits = model(batch["bands"], batch["lengths"])
            loss = F.cross_entropy(logits.mT, batch["stages"], ignore_index=IGNORE)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        score, efficiency = evaluate(model, held_out)
        worst = min(efficiency, key=efficiency.get)
        print(f"epoch {epoch}: loss {total / len(feed):.4f} kappa {score:.3f}, "
              f"subject {worst} slept {efficiency[worst]:.0%}")


if __name__ == "__main__":
    main(parser.parse_args())
