import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class GaussianSmearing(nn.Module):
    """Expand interatomic distances in a basis of Gaussians."""

    def __init__(self, start=0.0, stop=5.0, num_gaussians=16):
        super().__init__()
        offset = torch.linspace(start, stop, num_gaussians)
        self.coeff = -0.5 / (offset[1] - offset[0]).item() ** 2
        self.register_buffer("offset", offset)

    def forward(self, dist):
        diff = dist.unsqueeze(-1) - self.offset
        return torch.exp(self.coeff * diff.pow(2))


class CosineCutoff(nn.Module):
    def __init__(self, cutoff):
        super().__init__()
        self.cutoff = cutoff

    def forward(self, dist):
        c = 0.5 * (torch.cos(dist * math.pi / self.cutoff) + 1.0)
        return c * (dist < self.cutoff).to(c.dtype)


class InteractionBlock(nn.Module):
    def __init__(self, hidden, num_rbf):
        super().__init__()
        self.filter_net = nn.Sequential(
            nn.Linear(num_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden)
        )
        self.pre = nn.Linear(hidden, hidden, bias=False)
        self.post = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden))

    def forward(self, h, edge_index, rbf, envelope):
        src, dst = edge_index
        w = self.filter_net(rbf) * envelope.unsqueeze(-1)
        msg = self.pre(h)[src] * w
        agg = h.new_zeros(h.shape).index_add_(0, dst, msg)
        return h + self.post(F.silu(agg))


class ScaleShift(nn.Module):
    """Undo the standardisation of the per-atom targets."""

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self.register_buffer("mean", torch.tensor(float(mean)))
        self.register_buffer("std", torch.tensor(float(std)))

    def forward(self, x):
        return x * self.std + self.mean
