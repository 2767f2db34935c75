from . import cost, ops
from .registry import COSTS, DATASETS, OPS
from .supernet import SuperNet
