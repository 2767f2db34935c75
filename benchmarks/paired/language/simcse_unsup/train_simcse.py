"""Unsupervised SimCSE on a small transformer encoder, with accelerate."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader


@dataclass
class Args:
    vocab_size: int = 120
    dim: int = 32
    heads: int = 4
    layers: int = 2
    max_len: int = 16
    batch_size: int = 8
    steps: int = 8
    temp: float = 0.05
    lr: float = 1e-3
    seed: int = 42


class Encoder(nn.Module):
    def __init__(self, args: Args):
        super().__init__()
        self.tok = nn.Embedding(args.vocab_size, args.dim, padding_idx=0)
        self.pos = nn.Embedding(args.max_len, args.dim)
        layer = nn.TransformerEncoderLayer(args.dim, args.heads, 4 * args.dim, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, args.layers, enable_nested_tensor=False)
        self.scale = math.sqrt(args.dim)

    def forward(self, input_ids, attention_mask):
        positions = torch.arange(input_ids.size(1), device=input_ids.device)
        x = self.tok(input_ids) * self.scale + self.pos(positions)
        x = self.encoder(x, src_key_padding_mask=~attention_mask)
        mask = attention_mask.unsqueeze(-1).to(x.dtype)
        return (x * mask).sum(1) / mask.sum(1).clamp(min=1)


class SimCSE(nn.Module):
    def __init__(self, args: Args):
        super().__init__()
        self.encoder = Encoder(args)
        self.mlp = nn.Sequential(nn.Linear(args.dim, args.dim), nn.Tanh())
        self.temp = args.temp

    def embed(self, input_ids, attention_mask):
        return F.normalize(self.encoder(input_ids, attention_mask), dim=-1)

    def forward(self, input_ids, attention_mask):
        # the same sentence goes through dropout twice
        z1 = self.mlp(self.encoder(input_ids, attention_mask))
        z2 = self.mlp(self.encoder(input_ids, attention_mask))
        sim = F.cosine_similarity(z1.unsqueeze(1), z2.unsqueeze(0), dim=-1) / self.temp
        labels = torch.arange(sim.size(0), device=sim.device)
        loss = F.cross_entropy(sim, labels)
        with torch.no_grad():
            acc = (sim.argmax(dim=-1) == labels).float().mean()
        return loss, acc


def make_sentences(args: Args, n: int):
    rnd = random.Random(args.seed)
    return [[rnd.randrange(2, args.vocab_size) for _ in range(rnd.randint(4, args.max_len))] for _ in range(n)]


def collate(batch):
    length = max(len(s) for s in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    for row, sent in enumerate(batch):
        ids[row, :len(sent)] = torch.tensor(sent)
    return {"input_ids": ids, "attention_mask": ids.ne(0)}


@torch.no_grad()
def alignment_uniformity(model, loader):
    model.eval()
    zs = [model.embed(**batch) for batch in loader]
    z = torch.cat(zs)
    uniform = torch.pdist(z).pow(2).mul(-2).exp().mean().log()
    return uniform.item()


def main():
    args = Args()
    torch.manual_seed(args.seed)
    accelerator = Accelerator()
    model = SimCSE(args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    sents = make_sentences(args, 64)
    loader = DataLoader(sents, batch_size=args.batch_size, shuffle=True, collate_fn=collate, drop_last=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    step = 0
    model.train()
    while step < args.steps:
        for batch in loader:
            loss, acc = model(**batch)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % 4 == 0:
                accelerator.print(f"step {step} loss {loss.item():.3f} acc {acc.item():.2f}")
            if step >= args.steps:
                break

    accelerator.print("uniformity", round(alignment_uniformity(accelerator.unwrap_model(model), loader), 3))


if __name__ == "__main__":
    main()
