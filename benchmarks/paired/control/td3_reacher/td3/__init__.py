from .agent import TD3
from .buffer import ReplayBuffer

__all__ = ["TD3", "ReplayBuffer"]
