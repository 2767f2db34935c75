"""Trains a small decoder on counting sequences and serves a stream of requests."""
import argparse
import random

import torch
import torch.nn.functional as F

from serve import Decoder, Engine
from serve.engine import Request


def train(model, device, vocab, steps, length=8):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    ramp = torch.arange(length + 1, device=device)
    for _ in range(steps):
        first = torch.randint(vocab, (32, 1)).to(device)
        seq = (first + ramp) % vocab
        state, loss = model.initial(len(seq)), 0.0
        for t in range(length):
            state = model.step(state, seq[:, t])
            loss = loss + F.cross_entropy(model.logits(state), seq[:, t + 1])
        opt.zero_grad()
        (loss / length).backward()
        opt.step()
    return (loss / length).item()


def requests(n, vocab, rng):
    stems = [tuple((s + i) % vocab for i in range(3)) for s in (0, 4, 7)]
    for i in range(n):
        stem = rng.choice(stems)
        extra = tuple((stem[-1] + 1 + k) % vocab for k in range(rng.randint(0, 3)))
        yield Request(i, stem + extra, temperature=rng.choice([0.0, 0.0, 0.7]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=40)
    ap.add_argument("--requests", type=int, default=24)
    ap.add_argument("--vocab", type=int, default=12)
    ap.add_argument("--device", default=None)
    args = ap.parse_args()
    device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    torch.manual_seed(0)
    model = Decoder(args.vocab, 32).to(device)
    print(f"loss {train(model, device, args.vocab, args.steps):.3f}")
    engine = Engine(model, device)
    for request in requests(args.requests, args.vocab, random.Random(0)):
        engine.submit(request)
    right = total = 0
    for r in engine.drain():
        want = [(r.prompt[-1] + 1 + i) % args.vocab for i in range(len(r.output))]
        right += sum(a == b for a, b in zip(r.output, want))
        total += len(want)
    c = engine.cache
    print(f"right {right}/{total}, cache: {len(c)} rows, {c.nbytes()} bytes, "
          f"{c.hits} hits, {c.misses} misses")


if __name__ == "__main__":
    main()
