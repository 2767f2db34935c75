"""A machine without GPU: a CUDA build whose GPUs are hidden."""

import torch
from _no_gpu import knows_its_accelerator, refuses
from _support import ACCELERATOR_ERROR, raises

SHAPE = {"build": "hidden"}


def case_refuses() -> None:
    refuses(RuntimeError, "No CUDA GPUs are available")
    assert torch.version.cuda and torch.backends.cuda.is_built()


def case_a_cuda_build_knows_its_accelerator() -> None:
    knows_its_accelerator(RuntimeError, "No CUDA GPUs are available")
    with raises(ACCELERATOR_ERROR, "CUDA error: no CUDA-capable device is detected"):
        torch.cuda.Stream()
