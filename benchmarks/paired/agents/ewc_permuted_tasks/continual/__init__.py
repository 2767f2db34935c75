from .base import ContinualStrategy, Naive
from .ewc import EWC
from .rehearsal import Rehearsal

STRATEGIES = {"naive": Naive, "ewc": EWC, "rehearsal": Rehearsal}
