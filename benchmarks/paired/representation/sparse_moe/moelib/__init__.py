from .experts import Expert
from .layer import MoE
