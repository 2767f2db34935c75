import argparse
import contextlib
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from mt.beam import beam_search
from mt.corpus import FIRST, N_WORDS, PAD, LengthBuckets, collate, parallel
from mt.transformer import Seq2Seq


def ngram_precision(hyp, ref, n):
    h = Counter(tuple(hyp[i:i + n]) for i in range(len(hyp) - n + 1))
    r = Counter(tuple(ref[i:i + n]) for i in range(len(ref) - n + 1))
    return sum((h & r).values()), max(1, sum(h.values()))


def bleu2(hyps, refs):
    logs = []
    for n in (1, 2):
        hit, tot = np.sum([ngram_precision(h, r, n) for h, r in zip(hyps, refs)], axis=0)
        logs.append(np.log((hit + 1e-9) / tot))
    return 100 * float(np.exp(np.mean(logs)))


@contextlib.contextmanager
def offloaded(model):
    """Beam search launches lots of tiny kernels; the host is faster for single sentences."""
    home, training = model.device, model.training
    model.cpu().eval()
    try:
        yield model
    finally:
        model.to(home).train(training)


def validate(model, data, width):
    with offloaded(model) as m:
        hyps = [beam_search(m, s, width) for s, _ in data]
    return bleu2(hyps, [t for _, t in data])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=30)
    ap.add_argument("--beam", type=int, default=3)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    torch.manual_seed(1)

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train, dev = parallel(192, 0), parallel(5, 1)
    loader = DataLoader(train, batch_sampler=LengthBuckets(train, args.batch), collate_fn=collate)
    vocab = FIRST + N_WORDS
    model = Seq2Seq(vocab, vocab).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.98))
    for epoch in range(args.epochs):
        model.train()
        tokens, nll = 0, torch.zeros((), device=device)
        for src, tgt in loader:
            src, tgt = src.to(device), tgt.to(device)
            logits = model(src, tgt[:, :-1])
            gold = tgt[:, 1:]
            loss = F.cross_entropy(logits.transpose(1, 2), gold, ignore_index=PAD, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            n = gold.ne(PAD).sum().item()
            nll += loss.detach() * n
            tokens += n
        print(f"epoch {epoch}: loss {(nll / tokens).item():.3f} bleu {validate(model, dev, args.beam):.1f}")


if __name__ == "__main__":
    main()
