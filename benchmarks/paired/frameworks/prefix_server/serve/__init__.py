from .cache import StateCache
from .engine import Engine
from .model import Decoder

__all__ = ["Decoder", "Engine", "StateCache"]
