"""A trainer small enough to read in one sitting."""
from .callbacks import BestCheckpoint, Callback, SampleText, Throughput
from .trainer import Trainer

__version__ = "0.3.1"
__all__ = ["BestCheckpoint", "Callback", "SampleText", "Throughput", "Trainer"]
