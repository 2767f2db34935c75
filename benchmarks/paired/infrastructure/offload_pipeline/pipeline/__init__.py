from .placement import Placement, plan
from .unet import StagedUNet

__all__ = ["Placement", "plan", "StagedUNet"]
