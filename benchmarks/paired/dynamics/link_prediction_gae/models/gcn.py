import torch
import torch.nn as nn
import torch.nn.functional as F


def gcn_norm(edge_index, num_nodes):
    loops = torch.arange(num_nodes, device=edge_index.device)
    row = torch.cat([edge_index[0], edge_index[1], loops])
    col = torch.cat([edge_index[1], edge_index[0], loops])
    deg = torch.zeros(num_nodes, device=row.device).scatter_add_(0, row, torch.ones_like(row, dtype=torch.float))
    inv = deg.rsqrt()
    return row, col, inv[row] * inv[col]


class GCNConv(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin = nn.Linear(in_dim, out_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_dim))

    def forward(self, x, norm):
        row, col, weight = norm
        h = self.lin(x)
        out = torch.zeros_like(h).index_add_(0, row, h[col] * weight.unsqueeze(-1))
        return out + self.bias


class GCNEncoder(nn.Module):
    def __init__(self, in_dim, hidden, out_dim, dropout=0.1):
        super().__init__()
        self.conv1 = GCNConv(in_dim, hidden)
        self.conv2 = GCNConv(hidden, out_dim)
        self.dropout = dropout

    def forward(self, x, edge_index):
        norm = gcn_norm(edge_index, x.size(0))
        h = F.relu(self.conv1(x, norm))
        h = F.dropout(h, self.dropout, self.training)
        return self.conv2(h, norm)
