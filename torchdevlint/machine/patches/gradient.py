"""Tensor.grad: a gradient made in C++ is on its tensor's device, and assigning one from another device is refused."""

from __future__ import annotations

from typing import Any

import torch

from torchdevlint.machine import errors, forgiving
from torchdevlint.machine.patches import replace
from torchdevlint.machine.tags import WILD, device_of, set_tag, tag_of

_native: Any = torch._C.TensorBase.grad


def _get(self: Any) -> Any:
    gradient = _native.__get__(self)
    if gradient is not None and tag_of(gradient) is WILD:
        set_tag(gradient, tag_of(self))
    return gradient


def _set(self: Any, gradient: Any) -> None:
    if isinstance(gradient, torch.Tensor) and gradient.layout == torch.strided:
        own, other = device_of(self), device_of(gradient)
        if own != other:
            error = errors.fault(_mismatch(own, other), "grad", [("tensor", self), ("gradient", gradient)])
            forgiving.refuse(error, [self, gradient])
    _native.__set__(self, gradient)


def _mismatch(own: Any, other: Any) -> RuntimeError:
    """torch/csrc/autograd/python_variable.cpp, THPVariable_set_grad."""
    advice = "Please ensure that the gradient and the tensor are on the same device"
    if own.type != other.type:
        return RuntimeError(
            f"attempting to assign a gradient with device type '{other.type}' to a tensor with device type "
            f"'{own.type}'. {advice}"
        )
    return RuntimeError(
        f"attempting to assign a gradient located on device with index {other.index} to a tensor located on device "
        f"with index {own.index}. {advice}"
    )


def _delete(self: Any) -> None:
    _native.__delete__(self)


def install() -> None:
    """Patch the property."""
    replace(torch.Tensor, "grad", property(_get, _set, _delete))
