from .anchors import AnchorGenerator
from .loss import MultiBoxLoss
from .model import TinySSD

__all__ = ["AnchorGenerator", "MultiBoxLoss", "TinySSD"]
