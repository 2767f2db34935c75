from . import deepfm, logreg  # noqa: F401
