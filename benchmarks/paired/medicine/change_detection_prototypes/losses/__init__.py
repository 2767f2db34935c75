from . import prototype  # noqa: F401
