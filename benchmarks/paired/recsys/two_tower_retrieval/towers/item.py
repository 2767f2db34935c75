import torch
import torch.nn as nn

from .base import Tower


class ItemTower(Tower):
    def __init__(self, num_items, num_tags, dim):
        super().__init__(2 * dim, dim)
        self.ident = nn.Embedding(num_items, dim)
        self.tags = nn.Linear(num_tags, dim, bias=False)

    def features(self, ids, tags):
        return torch.cat([self.ident(ids), self.tags(tags)], dim=-1)
