from .criteria import CRITERIA
from .engine import Plan, Pruner, sparsity

__all__ = ["CRITERIA", "Plan", "Pruner", "sparsity"]
