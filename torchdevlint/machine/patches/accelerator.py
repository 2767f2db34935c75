"""torch.accelerator: the same devices under their generic name."""

from __future__ import annotations

from typing import Any

import torch

from torchdevlint.machine.patches import cuda, replace, streams
from torchdevlint.machine.state import STATE, visible_devices
from torchdevlint.machine.tags import Device


def is_available() -> bool:
    return visible_devices() > 0


def current_accelerator(check_available: bool = False) -> Any:
    return Device("cuda") if not check_available or visible_devices() else None


def device_count() -> int:
    return cuda.device_count()


def current_device_index() -> int:
    return cuda.current_device()


def set_device_index(device: Any) -> None:
    cuda.set_device(device)


def synchronize(device: Any = None) -> None:
    cuda.synchronize(device)


def current_stream(device: Any = None) -> Any:
    return streams.current_stream(device)


def set_stream(stream: Any) -> None:
    STATE.current.index = stream.device.index


class device_index(cuda.device):
    """`with torch.accelerator.device_index(i)`."""


_FUNCTIONS = (
    is_available,
    current_accelerator,
    device_count,
    current_device_index,
    set_device_index,
    synchronize,
    current_stream,
    set_stream,
    device_index,
)


def install() -> None:
    """Patch the functions (they ask C++), and the older names of two of them."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:  # torch before 2.6
        return
    for function in _FUNCTIONS:
        if hasattr(accelerator, function.__name__):
            replace(accelerator, function.__name__, function)
    for old, new in (("current_device_idx", current_device_index), ("set_device_idx", set_device_index)):
        if hasattr(accelerator, old):
            replace(accelerator, old, new)
