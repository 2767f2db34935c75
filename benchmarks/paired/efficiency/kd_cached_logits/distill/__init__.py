from .cache import LogitCache
from .losses import SoftTargetLoss

__all__ = ["LogitCache", "SoftTargetLoss"]
