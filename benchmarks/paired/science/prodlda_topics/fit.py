from __future__ import annotations

import argparse

import torch

from prodlda.corpus import SyntheticCorpus
from prodlda.metrics import diversity, npmi
from prodlda.model import ProdLDA


def perplexity(model: ProdLDA, loader, device: torch.device) -> float:
    model.eval()
    bound, words = 0.0, 0.0
    with torch.no_grad():
        for (x,) in loader:
            x = x.to(device)
            recon, kl = model(x)
            bound += (recon + kl).sum().item()
            words += x.sum().item()
    return float(torch.tensor(bound / words).exp())


def main(argv: list[str] | None = None) -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--docs", type=int, default=160)
    p.add_argument("--vocab", type=int, default=60)
    p.add_argument("--topics", type=int, default=6)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--device", default=None)
    opts = p.parse_args(argv)

    torch.manual_seed(0)
    device = torch.device(opts.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    corpus = SyntheticCorpus(opts.docs, opts.vocab, opts.topics, seed=0)
    train, test = corpus.loaders(opts.batch_size)

    model = ProdLDA(opts.vocab, opts.topics).to(device)
    optim = torch.optim.Adam(model.parameters(), lr=opts.lr, betas=(0.95, 0.999))
    for epoch in range(opts.epochs):
        model.train()
        total = 0.0
        weight = min(1.0, (epoch + 1) / 2)  # KL warm-up
        for (x,) in train:
            x = x.to(device)
            recon, kl = model(x)
            loss = (recon + weight * kl).mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item()
        print(f"epoch {epoch}  loss {total / len(train):.2f}  ppl {perplexity(model, test, device):.1f}")

    topics = model.topics().cpu().numpy()
    print(f"npmi {npmi(topics, corpus.counts):.3f}  diversity {diversity(topics):.2f}")
    for k, row in enumerate(topics[:3]):
        print(f"topic {k}:", " ".join(corpus.vocab[i] for i in row.argsort()[::-1][:6]))


if __name__ == "__main__":
    main()
