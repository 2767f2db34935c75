from . import models  # noqa: F401  (fills the registry)
from .registry import MODELS, build_model

__all__ = ["MODELS", "build_model"]
