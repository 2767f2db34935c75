import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from utils.masks import causal_mask, timeline_mask


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        att = (att + mask).softmax(dim=-1)
        y = (self.drop(att) @ v).transpose(1, 2).reshape(b, t, d)
        return self.out(y)


class Block(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.ln1 = nn.LayerNorm(dim)
        self.att = SelfAttention(dim, heads, dropout)
        self.ln2 = nn.LayerNorm(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Dropout(dropout), nn.Linear(dim, dim))

    def forward(self, x, mask):
        x = x + self.att(self.ln1(x), mask)
        return x + self.ffn(self.ln2(x))


class SASRec(nn.Module):
    def __init__(self, num_items, maxlen, dim=32, heads=2, blocks=2, dropout=0.2):
        super().__init__()
        self.item_emb = nn.Embedding(num_items + 1, dim, padding_idx=0)
        self.pos_emb = nn.Embedding(maxlen, dim)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(dim, heads, dropout) for _ in range(blocks)])
        self.ln = nn.LayerNorm(dim)

    def encode(self, seq):
        positions = torch.arange(seq.size(1), device=seq.device)
        x = self.item_emb(seq) * math.sqrt(self.item_emb.embedding_dim)
        x = self.drop(x + self.pos_emb(positions))
        keep = timeline_mask(seq)
        mask = causal_mask(seq.size(1), seq.device)
        for block in self.blocks:
            x = block(x * keep, mask)
        return self.ln(x * keep)

    def forward(self, seq, pos, neg):
        h = self.encode(seq)
        pos_logits = (h * self.item_emb(pos)).sum(-1)
        neg_logits = (h * self.item_emb(neg)).sum(-1)
        valid = pos != 0
        loss = F.softplus(-pos_logits[valid]).mean() + F.softplus(neg_logits[valid]).mean()
        return loss

    @torch.no_grad()
    def score_all(self, seq):
        return self.encode(seq)[:, -1] @ self.item_emb.weight.t()
