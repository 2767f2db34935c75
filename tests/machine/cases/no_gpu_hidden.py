"""A machine without GPU: a CUDA build whose GPUs are hidden."""

import torch
from _no_gpu import refuses

SHAPE = {"build": "hidden"}


def case_refuses() -> None:
    refuses(RuntimeError, "No CUDA GPUs are available")
    assert torch.version.cuda and torch.backends.cuda.is_built()
