from .neurons import LIF, Leaky, reset_net
from .network import SpikingClassifier
from .encoding import PoissonPatterns

__all__ = ["LIF", "Leaky", "reset_net", "SpikingClassifier", "PoissonPatterns"]
