import torch
import torch.nn as nn

from tgn.memory import NodeMemory


class TGN(nn.Module):
    def __init__(self, num_nodes, dim=16, msg_dim=4, time_dim=8):
        super().__init__()
        self.memory = NodeMemory(num_nodes, dim, msg_dim, time_dim)
        self.embed = nn.Embedding(num_nodes, dim)
        self.project = nn.Linear(2 * dim + time_dim, dim)
        self.score = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))

    def node_embedding(self, nodes, t):
        h, last = self.memory.read(nodes)
        z = torch.cat([h, self.embed(nodes), self.memory.time_enc(t - last)], dim=-1)
        return torch.tanh(self.project(z))

    def forward(self, src, dst, t):
        z = torch.cat([self.node_embedding(src, t), self.node_embedding(dst, t)], dim=-1)
        return self.score(z).squeeze(-1)
