"""Small library for fitting neural signed distance fields."""
from .callbacks import Callback, EMA, MeshStats, Snapshot
from .field import FourierSDF
from .sampling import SDFSamples
from .trainer import Trainer

__all__ = ["Callback", "EMA", "MeshStats", "Snapshot", "FourierSDF", "SDFSamples", "Trainer"]
