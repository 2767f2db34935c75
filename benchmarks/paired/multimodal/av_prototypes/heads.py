import torch
from torch import nn
import torch.nn.functional as F


def unit_rows(n, dim, seed, device=None):
    """Rows on the sphere; drawn on the host so that every machine starts alike."""
    g = torch.Generator().manual_seed(seed)
    rows = F.normalize(torch.randn(n, dim, generator=g), dim=-1)
    return rows if device is None else rows.to(device)


class PrototypeHead(nn.Module):
    """Swapped-prediction clustering over shared prototypes (SwAV style)."""

    def __init__(self, dim, n_prototypes, temperature=0.1, device=None):
        super().__init__()
        self.temperature = temperature
        self.prototypes = nn.Parameter(unit_rows(n_prototypes, dim, seed=17, device=device))
        self.register_buffer("usage", torch.zeros(n_prototypes, device=device))

    def forward(self, z):
        return F.normalize(z, dim=-1) @ F.normalize(self.prototypes, dim=-1).t()

    @torch.no_grad()
    def assign(self, scores, iters=3):
        q = torch.exp(scores / 0.2).t()
        q /= q.sum()
        k, b = q.shape
        for _ in range(iters):
            q /= q.sum(1, keepdim=True) * k
            q /= q.sum(0, keepdim=True) * b
        q = (q * b).t()
        self.usage += torch.bincount(q.argmax(1), minlength=k)
        return q

    def swapped_loss(self, a, v):
        qa, qv = self.assign(a.detach()), self.assign(v.detach())
        la = F.log_softmax(a / self.temperature, dim=-1)
        lv = F.log_softmax(v / self.temperature, dim=-1)
        return -0.5 * ((qv * la).sum(1).mean() + (qa * lv).sum(1).mean())
