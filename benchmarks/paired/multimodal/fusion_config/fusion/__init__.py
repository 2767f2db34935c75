from .losses import LOSSES
from .model import FusionClassifier
from .registry import Registry

__all__ = ["LOSSES", "FusionClassifier", "Registry"]
