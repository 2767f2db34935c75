from .conformal import ConformalExport
from .progress import Progress
from .swa import RunningAverage

__all__ = ["ConformalExport", "Progress", "RunningAverage"]
