import torch
from torch import nn

from records import AMINO, Batch, EdgeSet


class RadialBasis(nn.Module):
    def __init__(self, n, cutoff):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.0, cutoff, n), persistent=False)
        self.gamma = (n / cutoff) ** 2

    def forward(self, d):
        return torch.exp(-self.gamma * (d[:, None] - self.centers) ** 2)


class Shell(nn.Module):
    """Message passing over the contacts of one distance shell."""

    def __init__(self, dim, cutoff, n_basis=8):
        super().__init__()
        self.basis = RadialBasis(n_basis, cutoff)
        self.gate = nn.Linear(n_basis, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, h, edges: EdgeSet):
        message = self.value(h)[edges.src] * self.gate(self.basis(edges.length)).sigmoid()
        return torch.zeros_like(h).index_add_(0, edges.dst, message)


class FoldNet(nn.Module):
    def __init__(self, radii, dim=24, layers=2, n_folds=2):
        super().__init__()
        self.embed = nn.Embedding(len(AMINO), dim)
        self.layers = nn.ModuleList(
            nn.ModuleList(Shell(dim, r) for r in radii) for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(layers))
        self.out = nn.Linear(dim, n_folds)

    def forward(self, batch: Batch):
        h = self.embed(batch.residues)
        for shells, norm in zip(self.layers, self.norms):
            update = sum(shell(h, edges) for shell, edges in zip(shells, batch.scales))
            h = norm(h + torch.relu(update))
        pooled = h.new_zeros(batch.n_chains, h.shape[1]).index_add_(0, batch.owner, h)
        size = torch.bincount(batch.owner, minlength=batch.n_chains)
        return self.out(pooled / size[:, None])
