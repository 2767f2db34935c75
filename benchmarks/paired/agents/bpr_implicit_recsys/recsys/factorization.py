import torch
import torch.nn.functional as F
from torch import nn


class BiasedMF(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, users, items):
        """users (B,), items (B, K) -> (B, K)"""
        u = self.user(users).unsqueeze(1)
        return (u * self.item(items)).sum(-1) + self.bias(items).squeeze(-1)

    def regulariser(self, users, items):
        return self.user(users).pow(2).mean() + self.item(items).pow(2).mean()

    @torch.no_grad()
    def export(self):
        """Augmented vectors as float32 arrays, so that user @ item.T is the score."""
        ones = torch.ones(self.user.num_embeddings, 1)
        u = torch.cat([self.user.weight.cpu(), ones], dim=1)
        i = torch.cat([self.item.weight, self.bias.weight], dim=1).cpu()
        return u.numpy(), i.numpy()


def bpr_loss(pos, neg):
    return -F.logsigmoid(pos - neg).mean()


def sampled_softmax_loss(pos, neg):
    logits = torch.cat([pos, neg], dim=1)
    target = torch.zeros(len(logits), dtype=torch.long, device=logits.device)
    return F.cross_entropy(logits, target)


LOSSES = {"bpr": bpr_loss, "softmax": sampled_softmax_loss}
