"""Learning rate range test for partly trained models."""
from .finder import RangeTest, RangeTestResult
from .schedule import one_cycle
from .snapshot import TrainingSnapshot

__version__ = "0.3.1"
__all__ = ["RangeTest", "RangeTestResult", "TrainingSnapshot", "one_cycle"]
