from . import losses, nets  # noqa: F401  (fills the registries)
