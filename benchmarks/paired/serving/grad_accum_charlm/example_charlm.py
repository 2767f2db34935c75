"""Train a character model on a nursery rhyme with minitrain."""
import argparse
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

import minitrain
from minitrain.utils import count_parameters

TEXT = """jack and jill went up the hill to fetch a pail of water
jack fell down and broke his crown and jill came tumbling after
""" * 3


class CharTokenizer:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def encode(self, s):
        return [self.index[c] for c in s]

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)


class CharTransformer(nn.Module):
    def __init__(self, n_chars, context=16, dim=24):
        super().__init__()
        self.context = context
        self.tok = nn.Embedding(n_chars, dim)
        self.pos = nn.Embedding(context, dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Dropout(0.1), nn.Linear(2 * dim, dim))
        self.out = nn.Linear(dim, n_chars)

    def forward(self, ids):
        t = ids.size(1)
        x = self.tok(ids) + self.pos(torch.arange(t, device=ids.device))
        future = torch.ones(t, t, dtype=torch.bool, device=ids.device).triu(1)
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=future, need_weights=False)[0]
        return self.out(x + self.ff(self.ln2(x)))


def windows(ids, context, stride):
    starts = range(0, len(ids) - context - 1, stride)
    x = torch.stack([ids[s:s + context] for s in starts])
    y = torch.stack([ids[s + 1:s + context + 1] for s in starts])
    return TensorDataset(x, y)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--device")
    args = ap.parse_args()
    torch.manual_seed(0)

    tokenizer = CharTokenizer(TEXT)
    model = CharTransformer(len(tokenizer.chars))
    data = windows(torch.tensor(tokenizer.encode(TEXT)), model.context, 4)
    train, val = torch.utils.data.random_split(data, [len(data) - 16, 16])
    with tempfile.TemporaryDirectory() as folder:
        sampler = minitrain.SampleText(tokenizer, "jack ")
        trainer = minitrain.Trainer(
            model, lambda out, y: F.cross_entropy(out.flatten(0, 1), y.flatten()), lr=3e-3,
            accumulate=args.accumulate, device=args.device, weight_decay=0.01,
            callbacks=[minitrain.Throughput(), sampler, minitrain.BestCheckpoint(folder)],
        )
        print(count_parameters(model), "parameters")
        log = trainer.fit(DataLoader(train, 16, shuffle=True), DataLoader(val, 16), args.epochs)
    for row, text in zip(log, sampler.texts):
        print(" ".join(f"{k} {v:.3f}" for k, v in row.items() if "/" not in k), repr(text))


if __name__ == "__main__":
    main()
