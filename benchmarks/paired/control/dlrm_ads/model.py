import math
from typing import List

import torch
from torch import nn


def create_mlp(sizes: List[int], last_activation: bool) -> nn.Sequential:
    layers = []
    for i, (n, m) in enumerate(zip(sizes[:-1], sizes[1:])):
        lin = nn.Linear(n, m)
        nn.init.normal_(lin.weight, 0.0, math.sqrt(2.0 / (m + n)))
        layers.append(lin)
        if last_activation or i < len(sizes) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class DLRM(nn.Module):
    def __init__(self, table_sizes, n_dense: int, dim: int = 8, bot=(16,), top=(16,)):
        super().__init__()
        self.tables = nn.ModuleList([nn.EmbeddingBag(n, dim, mode="mean") for n in table_sizes])
        self.bot = create_mlp([n_dense, *bot, dim], last_activation=True)
        n_features = len(table_sizes) + 1
        li = torch.tensor([i for i in range(n_features) for j in range(i)])
        lj = torch.tensor([j for i in range(n_features) for j in range(i)])
        self.register_buffer("li", li)
        self.register_buffer("lj", lj)
        self.top = create_mlp([dim + len(li), *top, 1], last_activation=False)

    def interact(self, x: torch.Tensor, embedded: List[torch.Tensor]) -> torch.Tensor:
        stacked = torch.stack([x] + embedded, dim=1)
        z = torch.bmm(stacked, stacked.transpose(1, 2))
        return torch.cat([x, z[:, self.li, self.lj]], dim=1)

    def forward(self, dense, indices, offsets):
        x = self.bot(dense)
        embedded = [table(i, o) for table, i, o in zip(self.tables, indices, offsets)]
        return self.top(self.interact(x, embedded)).squeeze(1)
