"""A minimal GPT that learns to sort short digit strings (in the spirit of minGPT's demo)."""
from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class GPTConfig:
    vocab_size: int = 4
    block_size: int = 11
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 32
    dropout: float = 0.1


_MASKS: dict = {}


def causal_mask(size: int, device: torch.device) -> torch.Tensor:
    """Lower triangular mask; masks are shared by all layers."""
    key = (size, device)
    if key not in _MASKS:
        _MASKS[key] = torch.tril(torch.ones(size, size, dtype=torch.bool, device=device)).view(1, 1, size, size)
    return _MASKS[key]


class CausalSelfAttention(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.attn_dropout = nn.Dropout(config.dropout)
        self.n_head = config.n_head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(~causal_mask(T, x.device), float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class Block(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.n_embd)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(),
            nn.Linear(4 * config.n_embd, config.n_embd), nn.Dropout(config.dropout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.blocks = nn.Sequential(*[Block(config) for _ in range(config.n_layer)])
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def summary(self) -> None:
        """Print the output shape and the size of every top level module for a full block."""
        rows = []
        handles = [m.register_forward_hook(lambda m, i, o, name=name: rows.append((name, tuple(o.shape))))
                   for name, m in self.named_children()]
        with torch.no_grad():
            self(torch.zeros(1, self.config.block_size, dtype=torch.long, device=self.device))
        for h in handles:
            h.remove()
        for name, shape in rows:
            n = sum(p.numel() for p in getattr(self, name).parameters())
            print(f"{name:10s} {str(shape):18s} {n:8d}")

    def forward(self, idx: torch.Tensor, targets: torch.Tensor | None = None):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.ln_f(self.blocks(self.wte(idx) + self.wpe(pos)))
        logits = self.lm_head(x)
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss

    @torch.no_grad()
    def generate(self, idx: torch.Tensor, max_new_tokens: int) -> torch.Tensor:
        for _ in range(max_new_tokens):
            idx_cond = idx[:, -self.config.block_size:]
            logits, _ = self(idx_cond)
            idx = torch.cat((idx, logits[:, -1].argmax(-1, keepdim=True)), dim=1)
        return idx


def sort_batch(n: int, length: int = 6, digits: int = 4):
    inp = torch.randint(digits, (n, length))
    cat = torch.cat((inp, inp.sort(dim=1).values), dim=1)
    x, y = cat[:, :-1].clone(), cat[:, 1:].clone()
    y[:, :length - 1] = -1
    return x, y


def main() -> None:
    torch.manual_seed(3407)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    model = GPT(GPTConfig())
    model.summary()
    model.to(device)

    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95))
    model.train()
    for it in range(40):
        x, y = (t.to(device) for t in sort_batch(32))
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if it % 10 == 9:
            print(f"iter {it + 1}: train loss {loss.item():.4f}")

    model.eval()
    inp = torch.randint(4, (16, 6), device=device)
    out = model.generate(inp, 6)[:, 6:]
    correct = (out == inp.sort(dim=1).values).all(dim=1)
    print(f"sorted {int(correct.sum())} of {len(correct)}")


if __name__ == "__main__":
    main()
