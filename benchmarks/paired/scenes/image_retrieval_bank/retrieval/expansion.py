import torch.nn.functional as F


def alpha_query_expansion(queries, scores, ids, bank, alpha=3.0, top=3):
    """Weighted mean of a query and its best neighbours (Radenovic et al.)."""
    neighbours = bank.take(ids[:, :top]).to(queries.device)
    w = scores[:, :top].clamp(min=0).pow(alpha).unsqueeze(-1)
    return F.normalize(queries + (w * neighbours).sum(1), dim=-1)
