from .accumulate import GradAccumulator
from .model import DeepStack
from .offload import OffloadActivations
