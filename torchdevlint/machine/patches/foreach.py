"""Optimizers group their tensors by device in C++: group them by their tags."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch
from torch.utils import _foreach_utils

from torchdevlint.machine import errors, forgiving
from torchdevlint.machine.patches import replace
from torchdevlint.machine.tags import device_of

_NAME = "_group_tensors_by_device_and_dtype"
_STEP_DTYPES = (torch.float32, torch.float64)
_MISMATCH = (
    "Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and "
    "float32/64 notwithstanding"
)


def _fits(tensor: Any, device: Any, dtype: Any) -> bool:
    own = device_of(tensor)
    if own == device and tensor.dtype == dtype:
        return True
    return tensor.dim() == 0 and tensor.dtype in _STEP_DTYPES and (own == device or own.type == "cpu")


def group_tensors(tensorlistlist: Any, with_indices: bool = False) -> Any:
    """aten/src/ATen/native/ForeachUtils.h, _group_tensors_by_first_tensors_device_and_dtype."""
    groups: dict[Any, Any] = {}
    for index, first in enumerate(tensorlistlist[0]):
        key = (device_of(first), first.dtype)
        for tensors in tensorlistlist[1:]:
            tensor = tensors[index] if tensors else None
            if tensor is not None and not _fits(tensor, *key):
                pair = [("parameter", first), ("state", tensor)]
                error = errors.fault(RuntimeError(_MISMATCH), "optimizer step", pair)
                forgiving.refuse(error, [first, tensor])
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for kept, tensors in zip(lists, tensorlistlist, strict=True):
            if tensors:
                kept.append(tensors[index])
        if with_indices:
            indices.append(index)
    return groups


def install() -> None:
    """Patch the function wherever torch's modules have imported it."""
    original = getattr(_foreach_utils, _NAME)
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and name.startswith("torch.") and module.__dict__.get(_NAME) is original:
            replace(module, _NAME, group_tensors)
