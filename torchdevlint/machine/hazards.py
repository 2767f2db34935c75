"""What a GPU does wrong without an error: reads and writes of host memory while an asynchronous copy is in flight.

A `non_blocking` copy to the host is complete only after a synchronisation; a pinned buffer whose copy to the device is
in flight must not be overwritten before one (CUDA semantics notes, "Use pinned memory buffers").
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Literal

from torchdevlint.machine.ledger import record_sync
from torchdevlint.machine.places import Place, user_place
from torchdevlint.machine.tags import storage_of

HazardKind = Literal["read-before-sync", "overwrite-before-sync"]
_TO_HOST, _TO_DEVICE = "to-host", "to-device"
MOST_HAZARDS = 1000


@dataclass(frozen=True, slots=True)
class Hazard:
    """One hazard: what was done, by which operator, where; and where the copy began."""

    kind: HazardKind
    operator: str
    message: str
    place: Place | None
    copied_at: Place | None

    def to_dict(self) -> dict[str, object]:
        """Plain data for a report."""
        return {
            "kind": self.kind,
            "operator": self.operator,
            "message": self.message,
            "place": None if self.place is None else [self.place.file, self.place.line],
            "copied_at": None if self.copied_at is None else [self.copied_at.file, self.copied_at.line],
        }


HAZARDS: list[Hazard] = []
IN_FLIGHT: dict[int, weakref.ref[Any]] = {}
"""Host storages with an asynchronous copy that no synchronisation has followed. A dict: every operator tests it."""


def _mark(tensor: Any, direction: str) -> None:
    storage = storage_of(tensor)
    storage._tdl_copy = (direction, user_place(2))
    key = id(storage)
    IN_FLIGHT[key] = weakref.ref(storage, lambda _: IN_FLIGHT.pop(key, None))


def copy_to_host_began(tensor: Any) -> None:
    """`tensor` (on the host) is being written by an asynchronous copy."""
    _mark(tensor, _TO_HOST)


def copy_to_device_began(tensor: Any) -> None:
    """`tensor` (pinned host memory) is being read by an asynchronous copy."""
    _mark(tensor, _TO_DEVICE)


def synchronised(cause: str) -> None:
    """The host has waited for the device: nothing is in flight any more."""
    for reference in list(IN_FLIGHT.values()):
        storage = reference()
        if storage is not None:
            del storage._tdl_copy
    IN_FLIGHT.clear()
    record_sync(cause)


def _copy_of(tensor: Any) -> tuple[str, Place | None] | None:
    try:
        copy: tuple[str, Place | None] | None = getattr(storage_of(tensor), "_tdl_copy", None)
    except (NotImplementedError, RuntimeError):
        return None
    return copy


def check_read(tensor: Any, operator: str) -> None:
    """Report that the host reads memory that a copy may still be writing."""
    copy = _copy_of(tensor)
    if copy is not None and copy[0] == _TO_HOST:
        text = f"{operator} reads a CPU tensor that a non_blocking copy from the GPU may still be writing"
        _report("read-before-sync", operator, text, copy[1])


def check_operator(operator: str, tensors: list[Any], writes_first: bool) -> None:
    """Check all tensors of one operator; ``writes_first`` says that it overwrites its first tensor."""
    for position, tensor in enumerate(tensors):
        copy = _copy_of(tensor)
        if copy is None:
            continue
        if copy[0] == _TO_HOST:
            check_read(tensor, operator)
        elif writes_first and position == 0:
            text = f"{operator} overwrites pinned memory that a non_blocking copy to the GPU may still be reading"
            _report("overwrite-before-sync", operator, text, copy[1])


def _report(kind: HazardKind, operator: str, message: str, copied_at: Place | None) -> None:
    hazard = Hazard(kind, operator, message, user_place(2), copied_at)
    if len(HAZARDS) < MOST_HAZARDS and hazard not in HAZARDS[-64:]:
        HAZARDS.append(hazard)
