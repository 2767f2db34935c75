from .pruner import MagnitudePruner
from .schedule import cubic_sparsity
