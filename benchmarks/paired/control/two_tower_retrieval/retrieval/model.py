import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, vocab_sizes, embed_dim, hidden_dim, out_dim):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(v, embed_dim) for v in vocab_sizes)
        self.mlp = nn.Sequential(
            nn.Linear(embed_dim * len(vocab_sizes), hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, out_dim)
        )

    def forward(self, *ids: torch.Tensor) -> torch.Tensor:
        x = torch.cat([emb(i) for emb, i in zip(self.embeddings, ids)], dim=-1)
        return F.normalize(self.mlp(x), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, num_users, num_items, num_categories, embed_dim, hidden_dim, out_dim):
        super().__init__()
        self.query_tower = Tower([num_users], embed_dim, hidden_dim, out_dim)
        self.item_tower = Tower([num_items, num_categories], embed_dim, hidden_dim, out_dim)

    def forward(self, user_id, item_id, category):
        return self.query_tower(user_id), self.item_tower(item_id, category)
