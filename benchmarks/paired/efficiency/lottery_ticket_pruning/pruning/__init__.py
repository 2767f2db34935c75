from pruning.masks import MaskSet
from pruning.rewind import RewindPoint
