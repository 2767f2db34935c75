import numpy as np
import scipy.sparse as sp
import torch


def gaussian_adjacency(dist, threshold=0.1):
    adj = np.exp(-(dist / dist.std()) ** 2)
    adj[adj < threshold] = 0.0
    np.fill_diagonal(adj, 0.0)
    return sp.csr_matrix(adj)


def random_walk(adj):
    degree = np.asarray(adj.sum(1)).ravel()
    inv = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return sp.diags(inv) @ adj


def diffusion_supports(adj, order=2):
    """Forward and backward random walks up to the given order, as dense tensors."""
    supports = []
    for walk in (random_walk(adj), random_walk(adj.T)):
        power = sp.identity(adj.shape[0])
        for _ in range(order):
            power = walk @ power
            supports.append(torch.from_numpy(power.toarray()).float())
    return supports
