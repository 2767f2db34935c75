from .cache import PagedOut, SequenceCache
from .model import ModelConfig, TinyLlama
from .scheduler import Request, Scheduler

__all__ = ["ModelConfig", "PagedOut", "Request", "Scheduler", "SequenceCache", "TinyLlama"]
