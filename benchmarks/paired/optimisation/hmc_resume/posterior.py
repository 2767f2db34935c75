"""Hierarchical logistic regression; parameters packed in one vector per chain."""
import torch
import torch.nn.functional as F


def synthetic(n=300, dim=5, groups=4, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, dim, generator=g)
    group = torch.randint(groups, (n,), generator=g)
    w = torch.randn(dim, generator=g)
    offset = 0.7 * torch.randn(groups, generator=g)
    y = torch.bernoulli(torch.sigmoid(x @ w + offset[group]), generator=g)
    return x, group, y


def make_log_density(x, group, y):
    dim = x.shape[1]
    groups = int(group.max()) + 1

    def log_density(theta):
        w, log_tau, z = theta.split([dim, 1, groups], dim=1)
        offset = log_tau.exp() * z
        logits = w @ x.T + offset[:, group]
        fit = -F.binary_cross_entropy_with_logits(logits, y.expand_as(logits), reduction="none").sum(1)
        prior = -0.5 * (w ** 2).sum(1) - 0.5 * (z ** 2).sum(1) - log_tau.squeeze(1) ** 2
        return fit + prior

    return log_density, dim + 1 + groups
