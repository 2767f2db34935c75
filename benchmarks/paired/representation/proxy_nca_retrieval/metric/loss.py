"""ProxyNCA++ (Teh et al. 2020): proxy assignment probability, with one proxy per class."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ProxyNCA(nn.Module):
    def __init__(self, n_classes, embed_dim, scale, device):
        super().__init__()
        self.n_classes = n_classes
        self.scale = scale
        self.proxies = nn.Parameter(torch.randn(n_classes, embed_dim, device=device) / 8)

    def forward(self, embeddings, targets):
        P = F.normalize(self.proxies, dim=-1) * self.scale
        X = F.normalize(embeddings, dim=-1) * self.scale
        D = torch.cdist(X, P).pow(2)
        T = F.one_hot(targets, self.n_classes).float()
        return torch.sum(-T * F.log_softmax(-D, dim=1), dim=1).mean()

    def proxy_spread(self):
        """mean cosine between different proxies, goes down as they are trained apart"""
        P = F.normalize(self.proxies.detach(), dim=-1)
        S = P @ P.t()
        off = ~torch.eye(self.n_classes, dtype=torch.bool, device=S.device)
        return S[off].mean().item()
