import torch
from torch import nn
import torch.nn.functional as F


class GatedBlock(nn.Module):
    def __init__(self, d_in, d_out, p):
        super().__init__()
        self.lin = nn.Linear(d_in, 2 * d_out)
        self.norm = nn.BatchNorm1d(2 * d_out)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.drop(F.glu(self.norm(self.lin(x)), dim=-1))


class FraudNet(nn.Module):
    def __init__(self, n_num, cardinalities, width=24, p=0.1):
        super().__init__()
        dims = [min(8, (c + 1) // 2) for c in cardinalities]
        self.embs = nn.ModuleList(nn.Embedding(c, d) for c, d in zip(cardinalities, dims))
        self.net = nn.Sequential(GatedBlock(n_num + sum(dims), width, p), GatedBlock(width, width, p),
                                 nn.Linear(width, 2))

    def forward(self, num, cat):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        return self.net(torch.cat([num, *e], dim=1))
