import torch
from torch import nn


def scatter_sum(src, index, n):
    return src.new_zeros((n,) + src.shape[1:]).index_add_(0, index, src)


def scatter_softmax(score, index, n):
    top = score.new_full((n,), float("-inf")).scatter_reduce(0, index, score, "amax")
    e = (score - top[index]).exp()
    return e / scatter_sum(e, index, n)[index]


class RadialBasis(nn.Module):
    def __init__(self, n=8, cutoff=2.5):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0, cutoff, n))
        self.gamma = (n / cutoff) ** 2

    def forward(self, d):
        return torch.exp(-self.gamma * (d[:, None] - self.centers) ** 2)


class Interaction(nn.Module):
    def __init__(self, hidden, n_rbf):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(n_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.update = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden))

    def forward(self, h, edge_index, rbf):
        src, dst = edge_index
        return h + self.update(scatter_sum(h[src] * self.filter(rbf), dst, len(h)))


class ConformerNet(nn.Module):
    def __init__(self, n_elements, hidden=32, layers=3, n_rbf=8):
        super().__init__()
        self.embed = nn.Embedding(n_elements, hidden)
        self.rbf = RadialBasis(n_rbf)
        self.layers = nn.ModuleList(Interaction(hidden, n_rbf) for _ in range(layers))
        self.gate = nn.Linear(hidden, 1)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, batch):
        src, dst = batch.edge_index
        rbf = self.rbf((batch.pos[src] - batch.pos[dst]).norm(dim=-1))
        h = self.embed(batch.z)
        for layer in self.layers:
            h = layer(h, batch.edge_index, rbf)
        conf = scatter_sum(h, batch.graph, batch.num_graphs)
        attention = scatter_softmax(self.gate(conf)[:, 0], batch.owner, batch.num_molecules)
        mol = scatter_sum(attention[:, None] * conf, batch.owner, batch.num_molecules)
        return self.head(mol)[:, 0], attention
