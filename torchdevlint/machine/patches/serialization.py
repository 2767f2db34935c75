"""Checkpoints: storages are written with their true ``cuda:N`` and read through PyTorch's own validation."""

from __future__ import annotations

from typing import Any

import torch

from torchdevlint.machine import errors
from torchdevlint.machine.places import user_place
from torchdevlint.machine.tags import CPU, HOST, WILD, Tag, cuda_device

_PRIORITY: Any = 4.2718
"""Before torch's own entries; an odd number, because two entries of one priority cannot be sorted."""


def _untyped(storage: Any) -> Any:
    return getattr(storage, "_untyped_storage", storage)


def location_of(storage: Any) -> str | None:
    """The location tag of a storage, such as "cuda:1"; None leaves it to torch."""
    tag = _untyped(storage)._tdl_tag
    if tag is WILD:
        return "cpu"
    return None if tag is HOST or tag.device is CPU else str(tag.device)


def restore(storage: Any, location: str) -> Any:
    """Put a storage that was read from a checkpoint onto its location; None leaves it to torch."""
    untyped = _untyped(storage)
    if location == "cpu":
        untyped._tdl_tag = Tag(CPU, user_place())
        return storage
    if not location.startswith("cuda"):
        return None
    serialization: Any = torch.serialization
    validate = getattr(serialization, "_validate_device", None)
    try:  # the name differs by release
        device = validate(location, "cuda") if validate else serialization.validate_cuda_device(location)
    except RuntimeError as error:
        raise errors.fault(error, "torch.load") from None
    index = device if isinstance(device, int) else device.index
    untyped._tdl_tag = Tag(cuda_device(index or 0), user_place())
    return storage


def install() -> None:
    """Register both functions."""
    torch.serialization.register_package(_PRIORITY, location_of, restore)
