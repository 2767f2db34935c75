# %% [markdown]
# Soft prompt tuning of a frozen language model
#
# The model is fitted on two tasks at once (copy and reverse). Afterwards everything is frozen
# and a handful of prompt vectors is learned, which should make it do the second one.

# %%
import argparse
import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--pretrain-steps", type=int, default=15)
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--n-prompt", type=int, default=4)
parser.add_argument("--lr", type=float, default=0.03)
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
args, _ = parser.parse_known_args()

torch.manual_seed(args.seed)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
N_SYMBOLS, LENGTH, DIM = 12, 4, 32
SEP, COPY, REVERSE = N_SYMBOLS, N_SYMBOLS + 1, N_SYMBOLS + 2
VOCAB = N_SYMBOLS + 3
print("device:", device)

# %%
class FrozenLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(torch.randn(32, DIM) * 0.02)
        layer = nn.TransformerEncoderLayer(DIM, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.trunk = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.out = nn.Linear(DIM, VOCAB)

    def forward(self, vectors):
        t = vectors.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(t, device=vectors.device)
        return self.out(self.trunk(vectors + self.pos[:t], mask=mask))


def make_batch(n, task, instruct):
    """task: 0 copies, 1 reverses."""
    x = torch.randint(0, N_SYMBOLS, (n, LENGTH))
    y = x.flip(1) if task else x
    sep = torch.full((n, 1), SEP)
    ids = torch.cat([x, sep, y], dim=1)
    if instruct:
        ids = torch.cat([torch.full((n, 1), REVERSE if task else COPY), ids], dim=1)
    return ids.to(device)


def answer_loss(logits, ids):
    return F.cross_entropy(logits[:, -LENGTH - 1:-1].transpose(1, 2), ids[:, -LENGTH:])


# %% fit the base model
lm = FrozenLM().to(device)
opt = torch.optim.Adam(lm.parameters(), lr=5e-3)
for step in range(args.pretrain_steps):
    ids = make_batch(args.batch_size, step % 2, instruct=True)
    loss = answer_loss(lm(lm.embed(ids)), ids)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"base model loss {loss.item():.3f}")
lm.eval().requires_grad_(False)

# %% prompt and optimizer
def init_prompt(n):
    """Start from the embeddings of random symbols, with a bit of noise."""
    rows = torch.randint(0, N_SYMBOLS, (n,))
    start = lm.embed.weight.detach().cpu()[rows] + 0.01 * torch.randn(n, DIM)
    return start.to(device).requires_grad_()


def cosine(step, total, warmup=3):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))


def make_adam(params, lr, betas=(0.9, 0.98), eps=1e-8):
    """Adam in a closure; parameters without a gradient are passed over."""
    first = [torch.zeros_like(p) for p in params]
    second = [torch.zeros_like(p) for p in params]
    t = 0

    @torch.no_grad()
    def step(scale):
        nonlocal t
        t += 1
        for p, m, v in zip(params, first, second):
            if p.grad is None:
                continue
            m.lerp_(p.grad, 1 - betas[0])
            v.mul_(betas[1]).addcmul_(p.grad, p.grad, value=1 - betas[1])
            m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
            p -= lr * scale * m_hat / (v_hat.sqrt() + eps)
            p.grad = None

    return step


def prompted(prompt, gain, ids):
    body = lm.embed(ids)
    head = (gain * prompt).expand(len(ids), -1, -1)
    return lm(torch.cat([head, body], dim=1))


# %% tune
prompt = init_prompt(args.n_prompt)
gain = torch.ones(args.n_prompt, 1, device=device, requires_grad=True)
step_fn = make_adam([prompt, gain], lr=args.lr)
history = []
for step in range(args.steps):
    ids = make_batch(args.batch_size, task=1, instruct=False)
    loss = answer_loss(prompted(prompt, gain, ids), ids)
    loss.backward()
    step_fn(cosine(step, args.steps))
    history.append(loss.item())
    if step % 5 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")

# %% evaluate and keep
with torch.no_grad():
    ids = make_batch(64, task=1, instruct=False)
    guess = prompted(prompt, gain, ids)[:, -LENGTH - 1:-1].argmax(-1)
    accuracy = (guess == ids[:, -LENGTH:]).float().mean().item()
    # which symbols do the prompt vectors look like?
    table = F.normalize(lm.embed.weight, dim=-1).cpu()
    nearest = (F.normalize(prompt.cpu(), dim=-1) @ table.t()).argmax(-1)

with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "prompt.pt")
    torch.save({"prompt": prompt.detach().cpu(), "gain": gain.detach().cpu(), "history": history}, path)
    restored = torch.load(path)
print(f"accuracy {accuracy:.3f}, nearest tokens {nearest.tolist()}, saved {tuple(restored['prompt'].shape)}")
