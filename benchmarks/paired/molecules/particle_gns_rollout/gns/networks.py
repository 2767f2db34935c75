import torch
from torch import nn

from .registry import register


def mlp(i, h, o, norm=True):
    layers = [nn.Linear(i, h), nn.ReLU(), nn.Linear(h, o)]
    return nn.Sequential(*layers, nn.LayerNorm(o)) if norm else nn.Sequential(*layers)


def radius_graph(x, graph, radius):
    """Dense neighbour search inside every graph of the batch."""
    close = (torch.cdist(x, x) < radius) & (graph[:, None] == graph[None, :])
    close.fill_diagonal_(False)
    return close.nonzero().T


@register("network", "interaction")
class InteractionNetwork(nn.Module):
    def __init__(self, history, hidden=24, layers=2, radius=0.25, acc_std=None):
        super().__init__()
        self.radius = radius
        self.kind = nn.Embedding(2, 4)
        self.node_enc = mlp(2 * (history - 1) + 4 + 4, hidden, hidden)
        self.edge_enc = mlp(3, hidden, hidden)
        self.edge_net = nn.ModuleList(mlp(3 * hidden, hidden, hidden) for _ in range(layers))
        self.node_net = nn.ModuleList(mlp(2 * hidden, hidden, hidden) for _ in range(layers))
        self.decoder = mlp(hidden, hidden, 2, norm=False)
        self.register_buffer("acc_std", torch.ones(2) if acc_std is None else acc_std.clone())

    def wall_features(self, pos, batch):
        upper = batch.walls[batch.graph] - pos
        return torch.cat([pos, upper], -1).div(self.radius).clamp(-1, 1)

    def forward(self, history, batch):
        pos = history[:, -1]
        vel = history.diff(dim=1).flatten(1) / 0.02
        src, dst = radius_graph(pos, batch.graph, self.radius)
        h = self.node_enc(torch.cat([vel, self.wall_features(pos, batch), self.kind(batch.kind)], -1))
        rel = (pos[src] - pos[dst]) / self.radius
        e = self.edge_enc(torch.cat([rel, rel.norm(dim=-1, keepdim=True)], -1))
        for fe, fn in zip(self.edge_net, self.node_net):
            e = e + fe(torch.cat([e, h[src], h[dst]], -1))
            agg = torch.zeros_like(h).index_add(0, dst, e)
            h = h + fn(torch.cat([h, agg], -1))
        return self.decoder(h)

    def integrate(self, history, acc):
        return 2 * history[:, -1] - history[:, -2] + acc * self.acc_std

    def normalised_acceleration(self, history, target):
        return (target - 2 * history[:, -1] + history[:, -2]) / self.acc_std
