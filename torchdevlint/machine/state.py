"""What the machine of this process is doing now: its devices, whether CUDA was initialised, the current device."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import Any

from torchdevlint.machine import errors
from torchdevlint.machine.shape import Shape
from torchdevlint.machine.tags import CPU, Device, cuda_device


class _Current(threading.local):
    index = 0
    """`torch.cuda.set_device` is thread-local in CUDA's runtime."""


@dataclass(slots=True)
class State:
    """One per process. ``visible`` is None until the CUDA driver would have read CUDA_VISIBLE_DEVICES."""

    shape: Shape = field(default_factory=lambda: Shape(build="cpu"))
    visible: int | None = None
    initialised: bool = False
    bad_fork: bool = False
    current: _Current = field(default_factory=_Current)
    originals: dict[str, Any] = field(default_factory=dict)


STATE = State()


def _listed_devices(gpus: int) -> int:
    """How many devices CUDA_VISIBLE_DEVICES leaves: entries count up to the first one that is not a device."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return gpus
    seen: set[int] = set()
    for entry in listed.split(","):
        digits = entry.strip()
        if not digits.isdigit() or int(digits) >= gpus:
            break
        if int(digits) in seen:
            return 0  # a device named twice is an error: CUDA then shows none
        seen.add(int(digits))
    return len(seen)


def count_without_init() -> int:
    """`torch.cuda.device_count()` before initialisation: it asks NVML, which reads the variable anew each time."""
    return STATE.visible if STATE.visible is not None and STATE.initialised else _listed_devices(STATE.shape.gpus)


def visible_devices() -> int:
    """The devices that the CUDA driver shows. The first call reads CUDA_VISIBLE_DEVICES, for good."""
    if STATE.visible is None:
        STATE.visible = _listed_devices(STATE.shape.gpus)
    return STATE.visible


def initialise() -> None:
    """What `torch.cuda._lazy_init` does: refuse in a forked child of an initialised parent, or without devices."""
    if STATE.initialised:
        return
    if STATE.bad_fork:
        raise errors.bad_fork()
    if visible_devices() == 0:
        raise errors.no_device("hidden")
    STATE.initialised = True


def normal_device(spec: Any) -> Any:
    """A user's device as a `torch.device` with an index; other device types stay as they are.

    Raises what CUDA raises for an index that does not exist.
    """
    device = spec if isinstance(spec, Device) else _parse(spec)
    if device.type != "cuda":
        return CPU if device.type == "cpu" else device
    initialise()
    index = STATE.current.index if device.index is None else device.index
    if index >= visible_devices():
        raise errors.invalid_ordinal()
    return cuda_device(index)


def _parse(spec: Any) -> Any:
    if type(spec) is int:
        return Device("cuda", spec)
    return Device(spec)


def after_fork_in_child() -> None:
    """CUDA does not survive a fork: a child of an initialised parent may not touch it."""
    STATE.bad_fork = STATE.bad_fork or STATE.initialised
    STATE.initialised = False
