#!/usr/bin/env python
"""Skip-gram with negative sampling."""
import argparse
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--window", type=int, default=3)
    p.add_argument("--negatives", type=int, default=5)
    p.add_argument("--subsample", type=float, default=1e-2)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def synthetic_corpus(rng, n_sentences=60):
    topics = [
        "ship sea wave harbour captain sail wind storm".split(),
        "bread oven flour butter sugar cake spoon bowl".split(),
        "guitar drum song band chorus stage singer tune".split(),
    ]
    glue = "the of and a to in".split()
    corpus = []
    for _ in range(n_sentences):
        topic = topics[rng.integers(len(topics))]
        corpus.append([glue[rng.integers(len(glue))] if rng.random() < 0.3 else topic[rng.integers(len(topic))]
                       for _ in range(12)])
    return corpus


class Vocab:
    def __init__(self, sentences):
        self.counts = Counter(w for s in sentences for w in s)
        self.itos = [w for w, _ in self.counts.most_common()]
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def unigram(self, power=0.75):
        freq = torch.tensor([self.counts[w] for w in self.itos], dtype=torch.float)
        freq = freq.pow(power)
        return freq / freq.sum()


class SkipGramPairs(Dataset):
    def __init__(self, sentences, vocab, window, t, rng):
        total = sum(vocab.counts.values())
        keep = {w: min(1.0, np.sqrt(t * total / c) + t * total / c) for w, c in vocab.counts.items()}
        self.pairs = []
        for s in sentences:
            ids = [vocab.stoi[w] for w in s if rng.random() < keep[w]]
            for i, center in enumerate(ids):
                w = rng.integers(1, window + 1)
                for j in range(max(0, i - w), min(len(ids), i + w + 1)):
                    if j != i:
                        self.pairs.append((center, ids[j]))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


class SGNS(nn.Module):
    def __init__(self, vocab_size, dim, noise, n_neg):
        super().__init__()
        self.in_embed = nn.Embedding(vocab_size, dim)
        self.out_embed = nn.Embedding(vocab_size, dim)
        self.noise = noise
        self.n_neg = n_neg
        nn.init.uniform_(self.in_embed.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.out_embed.weight)

    def sample_negatives(self, n):
        draws = torch.multinomial(self.noise, n * self.n_neg, replacement=True)
        return draws.view(n, self.n_neg).to(self.out_embed.weight.device)

    def forward(self, center, context):
        v = self.in_embed(center)
        u = self.out_embed(context)
        neg = self.out_embed(self.sample_negatives(center.size(0)))
        pos_score = (u * v).sum(dim=1)
        neg_score = torch.bmm(neg, v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(pos_score) + F.logsigmoid(-neg_score).sum(dim=1)).mean()


def nearest(model, vocab, word, k=4):
    with torch.no_grad():
        w = F.normalize(model.in_embed.weight, dim=1)
        sims = w @ w[vocab.stoi[word]]
        top = sims.topk(k + 1).indices[1:]
    return [vocab.itos[i] for i in top.tolist()]


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    sentences = synthetic_corpus(rng)
    vocab = Vocab(sentences)
    pairs = SkipGramPairs(sentences, vocab, args.window, args.subsample, rng)
    loader = DataLoader(pairs, batch_size=args.batch_size, shuffle=True)
    print(f"{len(vocab)} words, {len(pairs)} pairs")

    model = SGNS(len(vocab), args.dim, vocab.unigram(), args.negatives).to(args.device)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        running = 0.0
        for center, context in loader:
            center, context = center.to(args.device), context.to(args.device)
            loss = model(center, context)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f}")

    for probe in ("ship", "bread", "song"):
        if probe in vocab.stoi:
            print(probe, "->", ", ".join(nearest(model, vocab, probe)))


if __name__ == "__main__":
    main()
