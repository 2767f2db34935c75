from .acquisition import expected_improvement, maximise
from .gp import GaussianProcess
from .history import History
from .transforms import Standardize

__all__ = ["expected_improvement", "maximise", "GaussianProcess", "History", "Standardize"]
