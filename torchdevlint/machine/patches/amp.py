"""Autocast: C++ looks at the native device of tensors, so CUDA autocast is CPU autocast with CUDA's default dtype."""

from __future__ import annotations

from typing import Any

import torch
from torch.amp import autocast_mode

from torchdevlint.machine.patches import replace


def _init(original: Any) -> Any:
    def init(self: Any, device_type: Any, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or torch.float16
        original(self, device_type, dtype, enabled, cache_enabled)

    return init


def _by_device_type(original: Any) -> Any:
    def asked(device_type: str = "cuda", *args: Any) -> Any:
        return original("cpu" if device_type == "cuda" else device_type, *args)

    asked.__name__ = original.__name__
    return asked


def install() -> None:
    """Patch the context manager and the questions about its state."""
    replace(autocast_mode.autocast, "__init__", _init(autocast_mode.autocast.__init__))
    for name in ("is_autocast_enabled", "get_autocast_dtype"):
        replace(torch, name, _by_device_type(getattr(torch, name)))
