from . import siamese  # noqa: F401
