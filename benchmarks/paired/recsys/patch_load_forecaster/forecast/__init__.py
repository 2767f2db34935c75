from .data import LoadModule
from .net import PatchForecaster
from .trainer import Callback, Trainer

__all__ = ["LoadModule", "PatchForecaster", "Callback", "Trainer"]
