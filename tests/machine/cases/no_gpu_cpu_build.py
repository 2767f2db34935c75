"""A machine without GPU: the CPU-only build."""

import torch
from _no_gpu import refuses

SHAPE = {"build": "cpu"}


def case_refuses() -> None:
    refuses(AssertionError, "Torch not compiled with CUDA enabled")
    assert torch.version.cuda is None and not torch.backends.cuda.is_built()
