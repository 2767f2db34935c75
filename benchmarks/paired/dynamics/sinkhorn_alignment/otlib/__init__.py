"""otlib: a small library of entropic optimal transport losses."""
from .costs import cosine_cost, sqeuclidean_cost
from .loss import SinkhornDivergence
from .sinkhorn import sinkhorn_log

__version__ = "0.2.1"
__all__ = ["SinkhornDivergence", "sinkhorn_log", "sqeuclidean_cost", "cosine_cost"]
