import math

import torch
import torch.nn as nn

from mt import masks


class Attention(nn.Module):
    def __init__(self, d, heads, p):
        super().__init__()
        self.h = heads
        self.q, self.kv, self.o = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.drop = nn.Dropout(p)

    def forward(self, x, mem, bias):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.h, -1).transpose(1, 2)
        k, v = self.kv(mem).view(b, mem.size(1), self.h, -1).transpose(1, 2).chunk(2, dim=-1)
        w = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        w = self.drop((w + bias).softmax(-1))
        return self.o((w @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, d, heads, p, cross):
        super().__init__()
        self.attn, self.n1 = Attention(d, heads, p), nn.LayerNorm(d)
        self.cross = Attention(d, heads, p) if cross else None
        self.n2 = nn.LayerNorm(d) if cross else None
        self.ff, self.n3 = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d)), nn.LayerNorm(d)

    def forward(self, x, self_bias, mem=None, mem_bias=None):
        y = self.n1(x)
        x = x + self.attn(y, y, self_bias)
        if self.cross is not None:
            x = x + self.cross(self.n2(x), mem, mem_bias)
        return x + self.ff(self.n3(x))


class Seq2Seq(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d=32, heads=4, layers=1, p=0.1, max_len=32):
        super().__init__()
        self.src_emb = nn.Embedding(src_vocab, d, padding_idx=0)
        self.tgt_emb = nn.Embedding(tgt_vocab, d, padding_idx=0)
        self.pos = nn.Embedding(max_len, d)
        self.enc = nn.ModuleList(Block(d, heads, p, False) for _ in range(layers))
        self.dec = nn.ModuleList(Block(d, heads, p, True) for _ in range(layers))
        self.out = nn.Linear(d, tgt_vocab)

    @property
    def device(self):
        return self.out.weight.device

    def _embed(self, table, ids):
        return table(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))

    def encode(self, src):
        bias = masks.padding(src)[:, None, None, :]
        x = self._embed(self.src_emb, src)
        for blk in self.enc:
            x = blk(x, bias)
        return x, bias

    def decode(self, tgt, mem, mem_bias):
        bias = masks.causal(tgt.size(1), tgt.device)
        x = self._embed(self.tgt_emb, tgt)
        for blk in self.dec:
            x = blk(x, bias, mem, mem_bias)
        return self.out(x)

    def forward(self, src, tgt):
        return self.decode(tgt, *self.encode(src))
