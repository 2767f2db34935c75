import torch
import torch.nn as nn
import torch.nn.functional as F


class GCNLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.w = nn.Linear(d_in, d_out, bias=False)
        self.w_self = nn.Linear(d_in, d_out)

    def forward(self, x, edge_index, norm):
        src, dst = edge_index
        msg = self.w(x)[src] * (norm[src] * norm[dst]).unsqueeze(1)
        out = torch.zeros(x.size(0), msg.size(1), device=x.device)
        out.index_add_(0, dst, msg)
        return out + self.w_self(x)


class AttentionPool(nn.Module):
    """Softmax over the nodes of each graph."""

    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Linear(dim, 1)

    def forward(self, x, graph_id, num_graphs):
        score = self.gate(x).squeeze(1)
        top = score.new_full((num_graphs,), float("-inf"))
        top = top.scatter_reduce(0, graph_id, score, reduce="amax")
        w = torch.exp(score - top[graph_id].detach())
        denom = w.new_zeros(num_graphs).index_add(0, graph_id, w)
        w = w / denom[graph_id]
        return x.new_zeros(num_graphs, x.size(1)).index_add(0, graph_id, x * w.unsqueeze(1))


class GraphClassifier(nn.Module):
    def __init__(self, d_in, hidden, n_class, n_layers=2):
        super().__init__()
        dims = [d_in] + [hidden] * n_layers
        self.convs = nn.ModuleList(GCNLayer(a, b) for a, b in zip(dims, dims[1:]))
        self.pool = AttentionPool(hidden)
        self.head = nn.Linear(hidden, n_class)

    def forward(self, b):
        h = b.x
        for conv in self.convs:
            h = F.elu(conv(h, b.edge_index, b.inv_sqrt_deg))
        return self.head(self.pool(h, b.graph_id, b.num_graphs))
