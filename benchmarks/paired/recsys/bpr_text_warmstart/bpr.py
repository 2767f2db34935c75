import torch
import torch.nn as nn
import torch.nn.functional as F


class HybridBPR(nn.Module):
    """score = <u, P c_i> + <u', q_i> + b_i ; c_i is a frozen content vector."""

    def __init__(self, n_users, n_items, content_dim, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, 2 * dim)
        self.item_content = nn.Embedding(n_items, content_dim)
        self.project = nn.Linear(content_dim, dim, bias=False)
        self.item_free = nn.Embedding(n_items, dim)
        self.bias = nn.Parameter(torch.zeros(n_items))
        for emb in (self.user, self.item_free):
            nn.init.normal_(emb.weight, std=0.05)
        nn.init.normal_(self.item_content.weight, std=0.05)

    def item_repr(self, items):
        return torch.cat([self.project(self.item_content(items)), self.item_free(items)], -1)

    def forward(self, users, items):
        return (self.user(users) * self.item_repr(items)).sum(-1) + self.bias[items]

    def loss(self, users, pos, neg, reg=1e-4):
        x = self(users, pos) - self(users, neg)
        l2 = self.user(users).pow(2).sum(-1) + self.item_free(pos).pow(2).sum(-1) + self.item_free(neg).pow(2).sum(-1)
        return -F.logsigmoid(x).mean() + reg * l2.mean()

    def full_scores(self, users):
        everything = torch.arange(self.bias.numel(), device=self.bias.device)
        return self.user(users) @ self.item_repr(everything).t() + self.bias
