from .config import ModelArgs
from .generation import Generator
from .model import Transformer

__all__ = ["ModelArgs", "Generator", "Transformer"]
