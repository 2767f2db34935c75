from .swa import WeightSwapper
from .loop import LoopMixin, LoggingMixin, SwaMixin

__all__ = ["LoggingMixin", "LoopMixin", "SwaMixin", "WeightSwapper"]
