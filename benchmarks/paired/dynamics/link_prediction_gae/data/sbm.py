import numpy as np
import torch


def stochastic_block_model(num_nodes=60, num_blocks=3, p_in=0.3, p_out=0.02, feat_dim=8, seed=0):
    """Undirected SBM graph; returns features, unique edges (2, E) and block ids."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, num_blocks, size=num_nodes)
    src, dst = np.triu_indices(num_nodes, k=1)
    prob = np.where(blocks[src] == blocks[dst], p_in, p_out)
    keep = rng.random(len(src)) < prob
    edges = torch.from_numpy(np.stack([src[keep], dst[keep]]))

    centers = rng.normal(size=(num_blocks, feat_dim))
    x = centers[blocks] + rng.normal(scale=1.5, size=(num_nodes, feat_dim))
    return torch.from_numpy(x).float(), edges, torch.from_numpy(blocks)
