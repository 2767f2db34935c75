import argparse
import collections

import torch
import torch.nn.functional as F

from model import LayoutTagger
from reading import column_count

TAGS = ("title", "key", "value")


def forms(n_pages, n_words=18, seed=0):
    g = torch.Generator().manual_seed(seed)
    xy = torch.rand(n_pages, n_words, 2, generator=g) * 0.85
    size = torch.rand(n_pages, n_words, 2, generator=g) * 0.1 + 0.02
    boxes = torch.cat([xy, xy + size], dim=-1)
    tokens = torch.randint(0, 40, (n_pages, n_words), generator=g)
    tags = torch.where(xy[..., 1] < 0.2, 0, torch.where(xy[..., 0] < 0.4, 1, 2))
    return tokens, boxes, tags


class Evaluator:
    def __init__(self):
        self.counts = collections.Counter()
        self.pages = []

    def update(self, logits, tags, columns):
        predicted = logits.argmax(-1).cpu()
        for true, guess in zip(tags.flatten().tolist(), predicted.flatten().tolist()):
            self.counts[true, guess] += 1
        self.pages.append(columns.cpu())

    def recall(self):
        out = {}
        for t, name in enumerate(TAGS):
            total = sum(v for (a, _), v in self.counts.items() if a == t)
            out[name] = round(self.counts[t, t] / max(total, 1), 2)
        return out


def main():
    cli = argparse.ArgumentParser()
    cli.add_argument("--epochs", type=int, default=4)
    cli.add_argument("--pages", type=int, default=96)
    opts = cli.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokens, boxes, tags = forms(opts.pages)
    model = LayoutTagger().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

    for epoch in range(opts.epochs):
        total = 0.0
        for pick in torch.randperm(opts.pages).split(16):
            logits = model(tokens[pick].to(device), boxes[pick].to(device))
            loss = F.cross_entropy(logits.flatten(0, 1), tags[pick].flatten().to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.3f}")

    model.eval()
    evaluator = Evaluator()
    tokens, boxes, tags = forms(24, seed=5)
    with torch.no_grad():
        for t, b, y in zip(tokens.split(8), boxes.split(8), tags.split(8)):
            b = b.to(device)
            evaluator.update(model(t.to(device), b), y, column_count(b))
    print("recall", evaluator.recall(), "columns", torch.cat(evaluator.pages).float().mean().item())


if __name__ == "__main__":
    main()
