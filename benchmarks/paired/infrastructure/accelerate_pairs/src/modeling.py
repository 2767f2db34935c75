import torch
import torch.nn as nn
import torch.nn.functional as F


class BiEncoder(nn.Module):
    def __init__(self, vocab=120, dim=32, temperature=0.1):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, dim))
        self.log_t = nn.Parameter(torch.tensor(temperature).log())

    def encode(self, ids):
        mask = (ids != 0).unsqueeze(-1)
        h = (self.emb(ids) * mask).sum(1) / mask.sum(1).clamp(min=1)
        return F.normalize(self.proj(h), dim=-1)

    def forward(self, left, right):
        a, b = self.encode(left), self.encode(right)
        logits = a @ b.t() / self.log_t.exp()
        labels = torch.arange(len(a), device=logits.device)
        loss = 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels))
        return {"loss": loss, "left": a, "right": b}
