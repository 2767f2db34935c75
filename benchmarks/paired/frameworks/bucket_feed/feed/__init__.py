from .bucketing import Bucketer
from .pipeline import Pipeline, stage

__all__ = ["Bucketer", "Pipeline", "stage"]
