from . import networks, noise  # noqa: F401  (fill the registry)
