from . import classify, retrieve  # noqa: F401
