"""torch.device: ``torch.device(1)`` names an index of the current accelerator, and the CPU build has none.

The class cannot be subclassed and its instances must stay real, so a stand-in with the same name makes them and
answers isinstance; pickling a device looks the name up in torch and finds the stand-in, which unpickles.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import _weights_only_unpickler

from torchdevlint.machine.patches import replace
from torchdevlint.machine.tags import Device


class _DeviceMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and type(args[0]) is int and not kwargs:
            return Device("cuda", args[0])
        return Device(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Device)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return issubclass(Device, subclass) or subclass is cls

    def __eq__(cls, other: Any) -> bool:
        return other is cls or other is Device

    def __hash__(cls) -> int:
        return hash(Device)


def install() -> None:
    """Put the stand-in into torch."""
    stand_in = _DeviceMeta("device", (), {"__module__": "torch", "__doc__": Device.__doc__})
    replace(torch, "device", stand_in)
    _weights_only_unpickler._get_allowed_globals.cache_clear()  # it holds the real class under this name
