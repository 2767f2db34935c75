from .calibrator import CalibratedLinear, PiecewiseLinear
from .projection import project_monotone

__all__ = ["CalibratedLinear", "PiecewiseLinear", "project_monotone"]
