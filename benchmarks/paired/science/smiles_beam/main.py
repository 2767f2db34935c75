import argparse
import random

import torch
import torch.nn.functional as F

from beam import beam_search, sample
from corpus import batches, make_smiles
from generator import SmilesLM
from vocab import PAD, SmilesVocab


def balanced(s):
    depth = 0
    for c in s:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0 and s.count("1") % 2 == 0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", type=int, default=120)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=24)
    ap.add_argument("--beam", type=int, default=4)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vocab = SmilesVocab()
    smiles = make_smiles(args.n, args.seed)

    model = SmilesLM(len(vocab)).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in batches(smiles, vocab, args.batch_size, rng):
            x, y = x.to(device), y.to(device)
            logits, _ = model(x)
            loss = F.cross_entropy(logits.transpose(1, 2), y, ignore_index=PAD)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.3f}")

    drawn = [vocab.decode(s) for s in sample(model, 16)]
    print("balanced samples:", sum(balanced(s) for s in drawn), "/", len(drawn))
    seqs, scores = beam_search(model, args.beam)
    for s, sc in zip(seqs, scores):
        print(f"{sc:8.3f}  {vocab.decode(s)}")


if __name__ == "__main__":
    main()
