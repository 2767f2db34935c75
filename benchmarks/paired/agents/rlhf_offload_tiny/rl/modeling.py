import torch
import torch.nn.functional as F
from torch import nn

PAD, BOS = 0, 1


class TinyCausalLM(nn.Module):
    def __init__(self, vocab=16, dim=32, heads=2, layers=1, max_len=24):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        n = ids.size(1)
        h = self.tok(ids) + self.pos(torch.arange(n, device=ids.device))
        causal = torch.full((n, n), float("-inf"), device=ids.device).triu(1)
        for block in self.blocks:
            h = block(h, src_mask=causal)
        return self.head(self.norm(h))

    @torch.no_grad()
    def generate(self, prompt, new_tokens, temperature=1.0):
        ids = prompt
        for _ in range(new_tokens):
            logits = self(ids)[:, -1] / temperature
            logits[:, [PAD, BOS]] = float("-inf")
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], dim=1)
        return ids


def token_logprobs(model, ids, prompt_len):
    logp = F.log_softmax(model(ids[:, :-1]).float(), dim=-1)
    return logp.gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)[:, prompt_len - 1:]


class RewardModel(nn.Module):
    """Bag-of-tokens preference model."""

    def __init__(self, vocab=16, dim=16):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        return self.out(torch.tanh(self.emb(ids))).squeeze(1)
