import torch.nn.functional as F


def alpha_query_expansion(queries, index, k=3, alpha=3.0):
    """Average each query with its neighbours, weighted by similarity ** alpha."""
    sims, idx = index.search(queries, k)
    neighbours = index.matrix[idx.cpu()].to(queries.device)
    weights = sims.clamp(min=0).pow(alpha).unsqueeze(-1)
    return F.normalize(queries + (weights * neighbours).sum(dim=1), dim=-1)
