from .base import REGISTRY, UncertaintyModel
from . import ensemble, mc_dropout  # noqa: F401


def build(cfg) -> UncertaintyModel:
    return REGISTRY[cfg.model.name](cfg.model, len(cfg.classes))
