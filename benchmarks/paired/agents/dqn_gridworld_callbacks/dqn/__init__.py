from .agent import DQNAgent
from .buffer import ReplayBuffer
from .env import GridWorld

__all__ = ["DQNAgent", "ReplayBuffer", "GridWorld"]
