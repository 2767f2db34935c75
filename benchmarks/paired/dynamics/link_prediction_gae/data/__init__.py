from .sbm import stochastic_block_model
from .split import EdgeSplit, random_link_split
from .negatives import NegativeSampler

__all__ = ["stochastic_block_model", "EdgeSplit", "random_link_split", "NegativeSampler"]
