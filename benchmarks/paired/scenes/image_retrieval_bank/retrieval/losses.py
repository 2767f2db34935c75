import torch
import torch.nn as nn
import torch.nn.functional as F


class ProxyAnchor(nn.Module):
    def __init__(self, classes, dim, margin=0.1, scale=16.0):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(classes, dim))
        self.margin, self.scale = margin, scale

    def forward(self, z, y):
        sim = z @ F.normalize(self.proxies, dim=-1).t()
        hot = F.one_hot(y, len(self.proxies)).bool()
        pos = torch.exp(-self.scale * (sim - self.margin)).masked_fill(~hot, 0).sum(0)
        neg = torch.exp(self.scale * (sim + self.margin)).masked_fill(hot, 0).sum(0)
        return torch.log1p(pos).sum() / hot.any(0).sum() + torch.log1p(neg).mean()
