"""A machine without GPU: a CUDA build without driver."""

import warnings

import torch
from _no_gpu import refuses

SHAPE = {"build": "no-driver"}


def case_warns_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not torch.cuda.is_available() and not torch.cuda.is_available()
    assert [str(w.message)[:60] for w in caught] == ["CUDA initialization: Found no NVIDIA driver on your system. "]


def case_refuses() -> None:
    refuses(RuntimeError, "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")
    assert torch.version.cuda and torch.backends.cuda.is_built()
