from .hooks import BestKeeper, ClipGrad, EmaHook, Hook, LossLog
from .trainer import Trainer

__all__ = ["BestKeeper", "ClipGrad", "EmaHook", "Hook", "LossLog", "Trainer"]
