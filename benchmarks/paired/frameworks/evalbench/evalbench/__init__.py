from .registry import TASKS, register
from . import tasks  # noqa: F401  (fills the registry)

__all__ = ["TASKS", "register"]
