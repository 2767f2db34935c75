"""Composite operators that check devices themselves in C++, before any operator that the mode could see."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from torchdevlint.machine import errors
from torchdevlint.machine.patches import replace
from torchdevlint.machine.tags import device_of, flat


def _guarded(original: Any, check: Callable[..., None]) -> Any:
    @functools.wraps(original)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        check(*args, **kwargs)
        return original(*args, **kwargs)

    return guarded


def _all_on_one(operator: str, text: str) -> Callable[..., None]:
    def check(*args: Any, **kwargs: Any) -> None:
        tensors = flat(args)
        if any(device_of(tensor) != device_of(tensors[0]) for tensor in tensors):
            raise errors.fault(RuntimeError(text), operator, [(str(i), tensor) for i, tensor in enumerate(tensors)])

    return check


def _tensor_split(data: Any, indices: Any = None, *args: Any, **kwargs: Any) -> None:
    """aten/src/ATen/native/TensorShape.cpp."""
    if isinstance(indices, torch.Tensor) and device_of(indices).type != "cpu":
        text = f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {device_of(indices)}"
        raise errors.fault(RuntimeError(text), "tensor_split", [("input", data), ("indices", indices)])


def _ctc_loss(original: Any) -> Any:
    """C++ takes another path for lengths given as tensors while a dispatch mode is on: give them as numbers."""

    @functools.wraps(original)
    def ctc_loss(
        log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any, **kwargs: Any
    ) -> Any:
        numbers = [x.tolist() if isinstance(x, torch.Tensor) else x for x in (input_lengths, target_lengths)]
        return original(log_probs, targets, *numbers, *args, **kwargs)

    return ctc_loss


_CHECKS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("block_diag", _all_on_one("block_diag", "torch.block_diag: input tensors must all be on the same device.")),
    ("meshgrid", _all_on_one("meshgrid", "torch.meshgrid expects all tensors to have the same device")),
    ("tensor_split", _tensor_split),
)


def install() -> None:
    """Patch the functions in torch."""
    for name, check in _CHECKS:
        replace(torch, name, _guarded(getattr(torch, name), check))
    replace(torch, "ctc_loss", _ctc_loss(torch.ctc_loss))
