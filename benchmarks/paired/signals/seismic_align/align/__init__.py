from .picker import DelayNet
from .shift import shift_traces
from .gather import Gather

__all__ = ["DelayNet", "Gather", "shift_traces"]
