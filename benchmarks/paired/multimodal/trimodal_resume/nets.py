import itertools

import torch
from torch import nn
import torch.nn.functional as F


def mlp(inp, dim):
    return nn.Sequential(nn.Linear(inp, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, dim))


class TriModal(nn.Module):
    SIZES = {"image": 30, "text": 20, "audio": 16}

    def __init__(self, dim=16):
        super().__init__()
        self.towers = nn.ModuleDict({k: mlp(n, dim) for k, n in self.SIZES.items()})
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, batch):
        return {k: F.normalize(self.towers[k](x), dim=-1) for k, x in batch.items()}


def pairwise_nce(z, log_scale, weights):
    """Sum of the symmetric InfoNCE losses over all pairs of modalities."""
    names = sorted(z)
    target = torch.arange(len(z[names[0]]), device=log_scale.device)
    loss = 0.0
    for a, b in itertools.combinations(names, 2):
        logits = log_scale.exp().clamp(max=50) * z[a] @ z[b].t()
        pair = F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)
        loss = loss + weights.get((a, b), 1.0) * pair / 2
    return loss


def synthetic(n, generator):
    latent = torch.randn(n, 8, generator=generator)
    mixer = torch.Generator().manual_seed(123)
    out = {}
    for name, size in TriModal.SIZES.items():
        mix = torch.randn(8, size, generator=mixer)
        out[name] = latent @ mix + 0.1 * torch.randn(n, size, generator=generator)
    return out
