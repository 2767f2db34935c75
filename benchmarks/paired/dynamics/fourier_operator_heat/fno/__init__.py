from . import callbacks, data, nets  # noqa: F401  (fills the registries)
