# %% [markdown]
# Low-rank adapters on a tiny character transformer.
# 1. "pretrain" on one text, 2. freeze, add adapters, 3. tune on another text,
# 4. merge and compare.

# %%
import copy
import io
import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 1234
CTX = 16
DIM = 32
STEPS_PRE = int(os.environ.get("STEPS_PRE", 12))
STEPS_LORA = int(os.environ.get("STEPS_LORA", 12))
RANK = 4
TARGETS = ("wq", "wv", "up")

torch.manual_seed(SEED)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("device:", device)

# %%
PRETRAIN = "the quick brown fox jumps over the lazy dog and the dog sleeps on. " * 8
TUNE = "pack my box with five dozen liquor jugs, said the judge. " * 8
chars = sorted(set(PRETRAIN + TUNE))
stoi = {c: i for i, c in enumerate(chars)}


def encode(s):
    return torch.tensor([stoi[c] for c in s])


corpus_pre, corpus_tune = encode(PRETRAIN), encode(TUNE)


def sample(corpus, bs=16):
    starts = torch.randint(0, len(corpus) - CTX - 1, (bs,))
    window = starts[:, None] + torch.arange(CTX + 1)
    chunk = corpus[window].to(device)
    return chunk[:, :-1], chunk[:, 1:]


# %%
class Block(nn.Module):
    def __init__(self, d, heads=2):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.wq, self.wk, self.wv = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.wo = nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def split(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        h = self.n1(x)
        q, k, v = self.split(self.wq(h)), self.split(self.wk(h)), self.split(self.wv(h))
        att = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        att = att.masked_fill(causal, float("-inf")).softmax(-1)
        x = x + self.wo((att @ v).transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(self.n2(x))))


class CharLM(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, DIM)
        self.pos = nn.Parameter(torch.randn(CTX, DIM) * 0.02)
        self.blocks = nn.ModuleList(Block(DIM) for _ in range(2))
        self.out = nn.Linear(DIM, vocab)

    def forward(self, idx):
        x = self.tok(idx) + self.pos[: idx.size(1)]
        for b in self.blocks:
            x = b(x)
        return self.out(x)


def fit(model, corpus, params, steps, lr):
    opt = torch.optim.AdamW(params, lr=lr)
    for step in range(steps):
        x, y = sample(corpus)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


# %%
model = CharLM(len(chars)).to(device)
print("pretrain loss %.3f" % fit(model, corpus_pre, model.parameters(), STEPS_PRE, 1e-2))


# %%
class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r, alpha=8.0, dropout=0.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.scale = alpha / r
        self.drop = nn.Dropout(dropout)
        w = base.weight
        self.A = nn.Parameter(torch.empty(r, base.in_features, dtype=w.dtype, device=w.device))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, dtype=w.dtype, device=w.device))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(self.drop(x), self.A), self.B) * self.scale

    @torch.no_grad()
    def merged(self):
        lin = copy.deepcopy(self.base)
        lin.weight += self.scale * (self.B @ self.A)
        return lin


def walk(module, match, make):
    for name, child in list(module.named_children()):
        if match(name, child):
            setattr(module, name, make(child))
        else:
            walk(child, match, make)
    return module


for p in model.parameters():
    p.requires_grad_(False)
walk(
    model,
    lambda name, m: name in TARGETS and isinstance(m, nn.Linear),
    lambda m: LoRALinear(m, RANK, dropout=0.05),
)
adapters = {n: p for n, p in model.named_parameters() if p.requires_grad}
total = sum(p.numel() for p in model.parameters())
print("trainable %d of %d" % (sum(p.numel() for p in adapters.values()), total))

# %%
model.train()
print("lora loss %.3f" % fit(model, corpus_tune, list(adapters.values()), STEPS_LORA, 2e-2))
model.eval()

# %% adapters alone go to disk
with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "adapter.pt")
    torch.save({n: p.detach().cpu() for n, p in adapters.items()}, path)
    size = os.path.getsize(path)
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    print("adapter file %.1f kB, full checkpoint %.1f kB" % (size / 1e3, buffer.tell() / 1e3))

# %% merge on the CPU
deploy = walk(
    copy.deepcopy(model).cpu(),
    lambda name, m: isinstance(m, LoRALinear),
    lambda m: m.merged(),
)
with torch.no_grad():
    x, _ = sample(corpus_tune, bs=8)
    gap = (deploy(x.cpu()) - model(x).cpu()).abs().max()
print("max difference after merging: %.2e" % gap)
assert gap < 1e-3
