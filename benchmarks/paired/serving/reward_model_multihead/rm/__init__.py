from . import backbones, losses  # noqa: F401  (fills the registries)
