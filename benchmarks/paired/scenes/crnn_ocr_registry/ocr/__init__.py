from . import data, models
from .registry import DATASETS, DECODERS, MODELS
