from .scores import SampleScores
from .trainer import Trainer

__all__ = ["SampleScores", "Trainer"]
