import argparse
from itertools import chain

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from retrieval import Encoder, FeatureBank, alpha_query_expansion
from retrieval.losses import ProxyAnchor


def textures(n, classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    yy, xx = np.mgrid[:16, :16] / 16
    imgs = []
    for c in y:
        f, a = 1 + c % 3, np.pi * c / classes + rng.normal(0, 0.1)
        wave = np.sin(2 * np.pi * f * (xx * np.cos(a) + yy * np.sin(a)) + rng.uniform(0, 6))
        tint = np.array([c % 2, (c // 2) % 2, (c // 4) % 2])[:, None, None]
        imgs.append(0.5 + 0.3 * wave[None] + 0.3 * tint + 0.2 * rng.normal(size=(3, 16, 16)))
    return TensorDataset(torch.from_numpy(np.stack(imgs)).float(), torch.from_numpy(y))


def average_precision(relevant):
    hits = np.cumsum(relevant)
    rank = np.arange(1, len(relevant) + 1)
    return float((hits / rank * relevant).sum() / max(relevant.sum(), 1))


@torch.no_grad()
def build_bank(encoder, dataset, dim, batch):
    bank = FeatureBank(len(dataset), dim)
    device = next(encoder.parameters()).device
    for x, y in DataLoader(dataset, batch):
        bank.add(encoder(x.to(device)), y)
    return bank


@torch.no_grad()
def retrieve(encoder, bank, dataset, k, batch, expand):
    device = next(encoder.parameters()).device
    aps = []
    for x, y in DataLoader(dataset, batch):
        q = encoder(x.to(device))
        scores, ids = bank.search(q, k)
        if expand:
            q = alpha_query_expansion(q, scores, ids, bank)
            scores, ids = bank.search(q, k)
        relevant = (bank.label_of(ids) == y[:, None]).numpy()
        aps += [average_precision(r) for r in relevant]
    return float(np.mean(aps))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--classes", type=int, default=6)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--topk", type=int, default=10)
    ap.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    opt = ap.parse_args()
    torch.manual_seed(0)

    encoder = Encoder(opt.dim).to(opt.device)
    criterion = ProxyAnchor(opt.classes, opt.dim).to(opt.device)
    optimizer = torch.optim.AdamW(chain(encoder.parameters(), criterion.parameters()), lr=5e-3)
    train = DataLoader(textures(96, opt.classes, 0), opt.batch, shuffle=True, drop_last=True)
    gallery, queries = textures(80, opt.classes, 1), textures(16, opt.classes, 2)

    for epoch in range(opt.epochs):
        encoder.train()
        for x, y in train:
            loss = criterion(encoder(x.to(opt.device)), y.to(opt.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        encoder.eval()
        bank = build_bank(encoder, gallery, opt.dim, opt.batch)
        plain = retrieve(encoder, bank, queries, opt.topk, opt.batch, expand=False)
        expanded = retrieve(encoder, bank, queries, opt.topk, opt.batch, expand=True)
        print(f"epoch {epoch}: loss {loss.item():.3f} mAP@{opt.topk} {plain:.3f} with AQE {expanded:.3f}")


if __name__ == "__main__":
    main()
