"""A tiny character-level GPT with a key/value cache, trained on generated arithmetic."""
import argparse
import copy
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F

# ----------------------------------------------------------------------------
# data


class Arithmetic(torch.utils.data.Dataset):
    vocab = "\n0123456789+="

    def __init__(self, n, block_size, seed=0):
        rng = random.Random(seed)
        text = "".join("%d+%d=%d\n" % (a, b, a + b) for a, b in
                       ((rng.randrange(50), rng.randrange(50)) for _ in range(n)))
        self.stoi = {c: i for i, c in enumerate(self.vocab)}
        self.ids = torch.tensor([self.stoi[c] for c in text])
        self.block_size = block_size

    def __len__(self):
        return (len(self.ids) - 1) // self.block_size

    def __getitem__(self, i):
        lo = i * self.block_size
        chunk = self.ids[lo:lo + self.block_size + 1]
        return chunk[:-1], chunk[1:]

    def encode(self, s):
        return [self.stoi[c] for c in s]

    def decode(self, ids):
        return "".join(self.vocab[i] for i in ids)


# ----------------------------------------------------------------------------
# model


@dataclass
class GPTConfig:
    vocab_size: int = 13
    block_size: int = 24
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16
    dropout: float = 0.0


_mask_cache = {}


def causal_mask(q_len, k_len, device):
    """True where attention is forbidden; built once per shape, there are only few of them."""
    key = (q_len, k_len, device)
    if key not in _mask_cache:
        full = torch.ones(q_len, k_len, dtype=torch.bool, device=device)
        _mask_cache[key] = full.triu(1 + k_len - q_len)
    return _mask_cache[key]


class Attention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n_head = cfg.n_head
        self.qkv = nn.Linear(cfg.n_embd, 3 * cfg.n_embd)
        self.proj = nn.Linear(cfg.n_embd, cfg.n_embd)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x, past=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                   for t in self.qkv(x).split(C, dim=2))
        if past is not None:
            k = torch.cat([past[0], k], dim=2)
            v = torch.cat([past[1], v], dim=2)
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        att = att.masked_fill(causal_mask(T, k.size(2), x.device), float("-inf"))
        y = self.drop(att.softmax(-1)) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C)), (k, v)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.n_embd), nn.LayerNorm(cfg.n_embd)
        self.attn = Attention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.n_embd, 4 * cfg.n_embd), nn.GELU(),
                                 nn.Linear(4 * cfg.n_embd, cfg.n_embd))

    def forward(self, x, past=None):
        a, present = self.attn(self.ln1(x), past)
        x = x + a
        return x + self.mlp(self.ln2(x)), present


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.pos = nn.Embedding(cfg.block_size, cfg.n_embd)
        self.blocks = nn.ModuleList([Block(cfg) for _ in range(cfg.n_layer)])
        self.ln = nn.LayerNorm(cfg.n_embd)
        self.head = nn.Linear(cfg.n_embd, cfg.vocab_size, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, idx, targets=None, past=None):
        start = past[0][0].size(2) if past else 0
        pos = torch.arange(start, start + idx.size(1), device=idx.device)
        x = self.tok(idx) + self.pos(pos)
        presents = []
        for i, block in enumerate(self.blocks):
            x, present = block(x, past[i] if past else None)
            presents.append(present)
        logits = self.head(self.ln(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss, presents

    @torch.no_grad()
    def generate(self, prompt, max_new, stop=None, generator=None):
        """prompt: list of ids. The draw itself is done on the host, to be the same everywhere."""
        device = self.tok.weight.device
        out, past = list(prompt), None
        idx = torch.tensor([out], device=device)
        for _ in range(min(max_new, self.cfg.block_size - len(prompt))):
            logits, _, past = self(idx, past=past)
            probs = logits[0, -1].float().softmax(-1).cpu()
            nxt = torch.multinomial(probs, 1, generator=generator).item()
            out.append(nxt)
            if nxt == stop:
                break
            idx = torch.tensor([[nxt]], device=device)
        return out


# ----------------------------------------------------------------------------
# training


def train(model, loader, args, device, callbacks=()):
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1},
                             {"params": rest, "weight_decay": 0.0}], lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for xb, yb in loader:
            _, loss, _ = model(xb.to(device), yb.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        for cb in callbacks:
            cb(epoch, model, loss.item())


def sampler(data, prompts):
    def on_epoch(epoch, model, loss):
        model.eval()
        g = torch.Generator().manual_seed(epoch)
        texts = [data.decode(model.generate(data.encode(p), 6, data.stoi["\n"], g)) for p in prompts]
        print("epoch %d loss %.3f samples %r" % (epoch, loss, texts))
    return on_epoch


def deployment_check(data, tol=1e-3):
    """The service runs on CPUs: compare a host copy of the model with the one in training."""
    def on_epoch(epoch, model, loss):
        device = next(model.parameters()).device
        host = copy.deepcopy(model).cpu().eval()
        model.eval()
        x, _ = data[0]
        with torch.no_grad():
            ref, _, _ = model(x[None].to(device))
            got, _, _ = host(x[None])
        gap = (ref.cpu() - got).abs().max().item()
        print("epoch %d host copy %s (%.1e)" % (epoch, "ok" if gap < tol else "DIFFERS", gap))
    return on_epoch


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--device", type=str, default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    torch.manual_seed(1337)
    config = GPTConfig()
    data = Arithmetic(200, config.block_size)
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    gpt = GPT(config).to(args.device)
    print("%d parameters" % sum(p.numel() for p in gpt.parameters()))
    train(gpt, loader, args, args.device, [sampler(data, ["1+1=", "20+3="]), deployment_check(data)])
