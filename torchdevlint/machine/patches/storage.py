"""Storages: their clones and copies keep or change the tag, and `storage.device` tells it."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from torchdevlint.machine.patches import replace
from torchdevlint.machine.places import user_place
from torchdevlint.machine.state import normal_device
from torchdevlint.machine.tags import CPU, HOST, WILD, Tag


def _clone(original: Any) -> Any:
    def clone(self: Any) -> Any:
        tag = self._tdl_tag
        if tag is HOST:
            return original(self)
        with _disable_current_modes():  # the copy is made out of tensors in C++
            copied = type(self)(self.nbytes()).copy_(self)
        copied._tdl_tag = tag
        return copied

    return clone


def _device(native: Any) -> Any:
    def device(self: Any) -> Any:
        tag = self._tdl_tag
        return native.__get__(self) if tag is HOST or tag is WILD else tag.device

    return property(device)


def _move(self: Any, device: Any) -> Any:
    if self.device == device:
        return self
    copied = self.clone()
    copied._tdl_tag = Tag(device, self._tdl_tag.born, user_place())
    return copied


def _cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
    return _move(self, normal_device("cuda" if device is None else device))


def _cpu(self: Any) -> Any:
    return _move(self, CPU)


def _to(original: Any) -> Any:
    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        target = normal_device(device)
        if target.type not in ("cpu", "cuda"):
            return original(self, device=device, non_blocking=non_blocking)
        return _move(self, target)

    return to


def _new(native: Any) -> Any:
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        spec = kwargs.get("device")
        device = CPU if spec is None else normal_device(spec)
        if device.type != "cuda":
            return native(cls, *args, **kwargs)
        made = native(cls, *args, **{**kwargs, "device": CPU})
        made._tdl_tag = Tag(device, user_place())
        return made

    return staticmethod(new)


def install() -> None:
    """Patch UntypedStorage; TypedStorage asks it."""
    base, untyped = torch.storage._StorageBase, torch.UntypedStorage
    replace(base, "clone", _clone(base.clone))  # deepcopy of a tensor clones its storage
    replace(untyped, "__new__", _new(untyped.__new__))  # C++ would allocate on the GPU
    replace(untyped, "device", _device(untyped.device))  # C++ knows nothing of tags
    replace(untyped, "cuda", _cuda)  # a map_location function moves storages; C++ would allocate on the GPU
    replace(untyped, "cpu", _cpu)
    replace(untyped, "to", _to(untyped.to))
