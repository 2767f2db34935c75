from .builder import ItemEncoder
from .store import VectorStore

__all__ = ["ItemEncoder", "VectorStore"]
