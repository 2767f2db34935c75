"""Prompt tuning: the language model is frozen, only a few virtual token embeddings are learned."""
import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

N_PROMPT = 6
VOCAB = 80
STEPS = 10
BATCH = 8
SEQ = 12

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)


def build_lm():
    cfg = GPT2Config(
        vocab_size=VOCAB, n_positions=64, n_embd=32, n_layer=2, n_head=2,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=0, eos_token_id=0,
    )
    lm = GPT2LMHeadModel(cfg)
    lm.eval()
    for p in lm.parameters():
        p.requires_grad_(False)
    return lm


def sample_batch(n):
    # style to learn: all tokens come from a small part of the vocabulary
    return torch.randint(10, 18, (n, SEQ))


def init_prompt(lm, how="vocab"):
    if how == "vocab":
        idx = torch.randperm(VOCAB)[:N_PROMPT]
        weight = lm.transformer.wte.weight.data[idx].clone()
    else:
        weight = torch.randn(N_PROMPT, lm.config.n_embd) * 0.02
    return nn.Parameter(weight)


def lm_loss(lm, prompt, tokens):
    bsz = tokens.size(0)
    tok_emb = lm.transformer.wte(tokens)
    inputs = torch.cat([prompt.unsqueeze(0).expand(bsz, -1, -1), tok_emb], dim=1)
    labels = torch.full((bsz, inputs.size(1)), -100, dtype=torch.long, device=tokens.device)
    labels[:, N_PROMPT:] = tokens
    return lm(inputs_embeds=inputs, labels=labels).loss


@torch.no_grad()
def evaluate(lm, prompt, n_batches=3):
    g = 0.0
    for _ in range(n_batches):
        g += lm_loss(lm, prompt, sample_batch(BATCH).to(device)).item()
    return g / n_batches


lm = build_lm()
prompt = init_prompt(lm)
print("trainable:", prompt.numel(), "frozen:", sum(p.numel() for p in lm.parameters()))

lm.to(device)
prompt = nn.Parameter(prompt.data.to(device))
optimizer = torch.optim.AdamW([prompt], lr=0.3, weight_decay=0.0)

print(f"start   eval loss {evaluate(lm, prompt):.4f}")
for step in range(1, STEPS + 1):
    tokens = sample_batch(BATCH).to(device)
    loss = lm_loss(lm, prompt, tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")
print(f"end     eval loss {evaluate(lm, prompt):.4f}")

with torch.no_grad():
    emb = lm.transformer.wte.weight
    sims = torch.nn.functional.normalize(prompt, dim=-1) @ torch.nn.functional.normalize(emb, dim=-1).T
    print("closest tokens to each virtual token:", sims.argmax(dim=-1).tolist())
