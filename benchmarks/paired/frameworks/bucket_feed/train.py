import argparse

import torch
import torch.nn.functional as F

from feed import Bucketer, Pipeline
from feed.bucketing import merged, prefetched, shuffled
from model import Reader
from tracker import Tracker


def corpus(rows, vocab, classes, seed):
    """The class of a sequence is its most frequent marker token (1..classes)."""
    def source():
        g = torch.Generator().manual_seed(seed)
        for _ in range(rows):
            n = torch.randint(4, 20, (1,), generator=g).item()
            label = torch.randint(classes, (1,), generator=g).item()
            tokens = torch.randint(classes + 1, vocab, (n,), generator=g)
            mark = torch.rand(n, generator=g) < 0.4
            tokens[mark] = label + 1
            yield tokens, label
    return source


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--rows", type=int, default=170)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--vocab", type=int, default=40)
    ap.add_argument("--classes", type=int, default=4)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    order = torch.Generator().manual_seed(7)
    batches = (Pipeline(corpus(args.rows, args.vocab, args.classes, 1))
               | shuffled(64, order)
               | Bucketer((8, 14), args.batch)
               | prefetched(device)
               | merged(args.batch))
    model = Reader(args.vocab, 24, args.classes).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        tracker = Tracker(args.classes, device)
        for b in batches:
            logits = model(b["tokens"], b["lengths"])
            loss = F.cross_entropy(logits, b["labels"])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tracker.add(logits.detach(), b["labels"])
        print(f"epoch {epoch}: loss {loss.item():.3f} {tracker.summary()}")


if __name__ == "__main__":
    main()
