import argparse
import logging

import numpy as np
import torch

from bpr import HybridBPR
from catalog import build_catalog, build_interactions
from content import text_vectors, warm_start

logging.basicConfig(level=logging.INFO, format="[%(name)s] %(message)s")
log = logging.getLogger("bpr")


def triplets(pairs, seen, n_items, batch, rng):
    order = rng.permutation(len(pairs))
    for s in range(0, len(order), batch):
        u, i = pairs[order[s:s + batch]].T
        j = rng.integers(0, n_items, len(u))
        bad = seen[u, j]
        while bad.any():
            j[bad] = rng.integers(0, n_items, bad.sum())
            bad = seen[u, j]
        yield torch.from_numpy(np.stack([u, i, j]))


@torch.no_grad()
def recall_at(model, test, seen, k, device):
    users = torch.from_numpy(np.unique(test[:, 0]))
    scores = model.full_scores(users.to(device))
    scores.masked_fill_(torch.from_numpy(seen)[users].to(device), -1e9)
    top = scores.topk(k).indices.cpu().numpy()
    lookup = dict(zip(users.tolist(), top))
    return float(np.mean([i in lookup[u] for u, i in test.tolist()]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=60)
    p.add_argument("--items", type=int, default=80)
    p.add_argument("--content-dim", type=int, default=12)
    p.add_argument("--dim", type=int, default=8)
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=0.03)
    p.add_argument("--no-cuda", action="store_true")
    args = p.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    torch.manual_seed(0)
    rng = np.random.default_rng(0)

    topics, texts = build_catalog(args.items, seed=1)
    pairs = build_interactions(topics, args.users, per_user=9, seed=2)
    last = np.r_[pairs[1:, 0] != pairs[:-1, 0], True]
    train, test = pairs[~last], pairs[last]
    seen = np.zeros((args.users, args.items), dtype=bool)
    seen[train[:, 0], train[:, 1]] = True

    model = HybridBPR(args.users, args.items, args.content_dim, args.dim).to(device)
    known = np.flatnonzero(rng.random(args.items) < 0.9)
    n = warm_start(model, text_vectors(texts, args.content_dim), known)
    log.info("%d of %d items have content, device %s", n, args.items, device)

    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for users, pos, neg in (t.to(device) for t in triplets(train, seen, args.items, args.batch, rng)):
            loss = model.loss(users, pos, neg)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(users)
        log.info("epoch %d loss %.4f recall@10 %.3f", epoch, total / len(train),
                 recall_at(model, test, seen, 10, device))


if __name__ == "__main__":
    main()
