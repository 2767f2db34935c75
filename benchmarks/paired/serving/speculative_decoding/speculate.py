"""Speculative decoding with a small GRU draft model and a larger target model.

    python speculate.py --gamma 4 --max-new-tokens 24

Both models are first fitted for a few steps on a toy Markov corpus, so that the draft
agrees with the target often enough for the acceptance rate to mean something.
"""
import argparse
import time
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = 24


class GRULM(nn.Module):
    def __init__(self, width, layers=1):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, num_layers=layers, batch_first=True)
        self.out = nn.Linear(width, VOCAB)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.emb(ids), state)
        return self.out(h), state


def markov_corpus(n_tokens, seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(VOCAB, 0.15), size=VOCAB)
    tokens = [0]
    for _ in range(n_tokens - 1):
        tokens.append(int(rng.choice(VOCAB, p=table[tokens[-1]])))
    return torch.tensor(tokens)


def fit(model, corpus, steps, seq_len, device, lr=5e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        starts = torch.randint(0, len(corpus) - seq_len - 1, (8,))
        windows = torch.stack([corpus[s:s + seq_len + 1] for s in starts.tolist()]).to(device)
        logits, _ = model(windows[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), windows[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def to_probs(logits, temperature, top_k):
    logits = logits / temperature
    if top_k:
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
    return logits.softmax(-1)


def draw(probs, rng):
    return torch.multinomial(probs, 1, generator=rng)


def propose(draft, prefix, gamma, sample_rng, args):
    """Let the draft write gamma tokens; returns them with the distributions they came from."""
    tokens, dists = [], []
    logits, state = draft(prefix)
    for _ in range(gamma):
        p = to_probs(logits[:, -1], args.temperature, args.top_k)
        token = draw(p, sample_rng)
        tokens.append(token)
        dists.append(p)
        logits, state = draft(token, state)
    return torch.cat(tokens, dim=1), torch.stack(dists, dim=1)


def verify(target, prefix, proposal, q, coin_rng, sample_rng, args):
    logits, _ = target(torch.cat([prefix, proposal], dim=1))
    gamma = proposal.size(1)
    p = to_probs(logits[:, -gamma - 1:], args.temperature, args.top_k)

    p_tok = p[:, :gamma].gather(-1, proposal.unsqueeze(-1)).squeeze()
    q_tok = q.gather(-1, proposal.unsqueeze(-1)).squeeze()
    ratio = (p_tok / q_tok).clamp(max=1.0).cpu()
    coins = torch.rand(gamma, generator=coin_rng)
    rejected = (coins > ratio).nonzero()
    n_ok = int(rejected[0]) if len(rejected) else gamma

    if n_ok < gamma:
        residual = (p[:, n_ok] - q[:, n_ok]).clamp(min=0)
        residual = residual / residual.sum(-1, keepdim=True).clamp(min=1e-8)
        last = draw(residual, sample_rng)
    else:
        last = draw(p[:, -1], sample_rng)
    return torch.cat([proposal[:, :n_ok], last], dim=1), n_ok


@torch.inference_mode()
def generate(draft, target, prompt, args, coin_rng, sample_rng):
    ids, accepted, rounds = prompt, Counter(), 0
    while ids.size(1) - prompt.size(1) < args.max_new_tokens:
        proposal, q = propose(draft, ids, args.gamma, sample_rng, args)
        new, n_ok = verify(target, ids, proposal, q, coin_rng, sample_rng, args)
        ids = torch.cat([ids, new], dim=1)
        accepted[n_ok] += 1
        rounds += 1
    return ids[0, : prompt.size(1) + args.max_new_tokens].tolist(), accepted, rounds


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--gamma", type=int, default=4)
    ap.add_argument("--max-new-tokens", type=int, default=24)
    ap.add_argument("--temperature", type=float, default=1.0)
    ap.add_argument("--top-k", type=int, default=0)
    ap.add_argument("--fit-steps", type=int, default=12)
    ap.add_argument("--seed", type=int, default=3)
    ap.add_argument("--no-cuda", action="store_true")
    args = ap.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
    torch.manual_seed(args.seed)
    corpus = markov_corpus(2000, args.seed)
    draft, target = GRULM(12).to(device), GRULM(32, layers=2).to(device)
    print("draft loss %.3f" % fit(draft, corpus, args.fit_steps, 16, device))
    print("target loss %.3f" % fit(target, corpus, args.fit_steps, 16, device))
    draft.eval(), target.eval()

    coin_rng = torch.Generator().manual_seed(args.seed)
    sample_rng = torch.Generator(device=device).manual_seed(args.seed + 1)
    total, rounds = Counter(), 0
    t0 = time.perf_counter()
    for i in range(3):
        prompt = corpus[i * 10: i * 10 + 5].unsqueeze(0).to(device)
        text, accepted, n = generate(draft, target, prompt, args, coin_rng, sample_rng)
        total += accepted
        rounds += n
        print("sample", i, " ".join(map(str, text)))
    mean = sum(k * v for k, v in total.items()) / rounds
    print(f"mean accepted {mean:.2f} of {args.gamma}, {rounds} rounds, {time.perf_counter() - t0:.2f}s")


if __name__ == "__main__":
    main()
