"""A machine without GPU: a CUDA build without driver."""

import warnings

import torch
from _no_gpu import knows_its_accelerator, refuses
from _support import ACCELERATOR_ERROR, raises

SHAPE = {"build": "no-driver"}


def case_asks_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not torch.cuda.is_available() and torch.cuda.device_count() == 0


def case_refuses() -> None:
    refuses(RuntimeError, "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")
    assert torch.version.cuda and torch.backends.cuda.is_built()


def case_a_cuda_build_knows_its_accelerator() -> None:
    knows_its_accelerator(RuntimeError, "Found no NVIDIA driver on your system")
    with raises(ACCELERATOR_ERROR, "CUDA error: CUDA driver version is insufficient for CUDA runtime version"):
        torch.Generator("cuda")
