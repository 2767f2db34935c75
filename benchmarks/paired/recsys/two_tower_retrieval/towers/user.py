import torch
import torch.nn as nn

from .base import Tower


class UserTower(Tower):
    def __init__(self, num_items, num_countries, dim):
        super().__init__(dim + 4, dim)
        self.history = nn.EmbeddingBag(num_items, dim, mode="mean")
        self.country = nn.Embedding(num_countries, 4)

    def features(self, flat_history, offsets, country):
        return torch.cat([self.history(flat_history, offsets), self.country(country)], dim=-1)
