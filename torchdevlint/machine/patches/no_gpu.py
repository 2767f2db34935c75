"""Machines without GPUs: torch is as it is, but refuses CUDA in the words of the build that the shape names."""

from __future__ import annotations

from typing import Any

import torch

from torchdevlint.machine import errors
from torchdevlint.machine.patches import replace


def install(build: str) -> None:
    """Patch torch.cuda for a build without a usable GPU."""

    def _lazy_init() -> None:
        raise errors.no_device(build)

    def init() -> None:
        _lazy_init()

    def is_available() -> bool:
        return False

    def device_count() -> int:
        return 0

    for function in (_lazy_init, init, is_available, device_count):
        replace(torch.cuda, function.__name__, function)
    replace(torch.version, "cuda", None if build == "cpu" else "12.8")
    replace(torch.backends.cuda, "is_built", _answer(build != "cpu"))


def _answer(value: bool) -> Any:
    def answer() -> bool:
        return value

    return answer
