import torch
from torch import nn
from torch_geometric.nn import MessagePassing, global_add_pool


class EdgeNetwork(MessagePassing):
    def __init__(self, hidden):
        super().__init__(aggr="add")
        self.lin = nn.Linear(2 * hidden, hidden)

    def forward(self, h, edge_index, e):
        return self.propagate(edge_index, h=h, e=e)

    def message(self, h_j, e):
        return torch.relu(self.lin(torch.cat([h_j, e], dim=-1)))


class MPNN(nn.Module):
    def __init__(self, num_atoms, num_bonds, hidden=32, steps=3, out_dim=1):
        super().__init__()
        self.steps = steps
        self.atom_emb = nn.Embedding(num_atoms, hidden)
        self.bond_emb = nn.Embedding(num_bonds, hidden)
        self.conv = EdgeNetwork(hidden)
        self.update = nn.GRUCell(hidden, hidden)
        self.readout = nn.Sequential(
            nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, out_dim))

    def forward(self, data):
        h = self.atom_emb(data.z)
        e = self.bond_emb(data.edge_type)
        for _ in range(self.steps):
            m = self.conv(h, data.edge_index, e)
            h = self.update(m, h)
        return self.readout(global_add_pool(h, data.batch))
