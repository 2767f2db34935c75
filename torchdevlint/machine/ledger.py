"""The ledger: copies between host and device with their bytes, synchronisations and implicit copies, by user line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from torchdevlint.machine.places import Place, user_place

EntryKind = Literal["h2d", "d2h", "d2d", "sync"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of traffic at one line: how often, and how many bytes in all (0 for a synchronisation).

    ``implicit`` marks what the line does not say: a copy that PyTorch makes for an index or a printout.
    """

    kind: EntryKind
    cause: str
    implicit: bool
    place: Place | None
    count: int
    bytes: int

    def to_dict(self) -> dict[str, object]:
        """Plain data for a report."""
        place = None if self.place is None else [self.place.file, self.place.line]
        return {
            "kind": self.kind,
            "cause": self.cause,
            "implicit": self.implicit,
            "place": place,
            "count": self.count,
            "bytes": self.bytes,
        }


_Key = tuple[EntryKind, str, bool, "Place | None"]


@dataclass(slots=True)
class Ledger:
    """Traffic between host and devices since the machine started, or since `clear`."""

    _counts: dict[_Key, list[int]] = field(default_factory=dict)

    def add(self, kind: EntryKind, cause: str, size: int, implicit: bool, place: Place | None) -> None:
        """Count one event of ``size`` bytes."""
        counts = self._counts.setdefault((kind, cause, implicit, place), [0, 0])
        counts[0] += 1
        counts[1] += size

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All lines of the ledger, in the order in which they first occurred."""
        return tuple(Entry(*key, *counts) for key, counts in self._counts.items())

    def count(self, *kinds: EntryKind) -> int:
        """How many events of these kinds there were."""
        return sum(counts[0] for key, counts in self._counts.items() if key[0] in kinds)

    @property
    def copies(self) -> int:
        """Copies between the host and a device, or between devices."""
        return self.count("h2d", "d2h", "d2d")

    @property
    def syncs(self) -> int:
        """Points where the host waits for a device."""
        return self.count("sync")

    def clear(self) -> None:
        """Forget everything, to begin a new section."""
        self._counts.clear()

    def describe(self) -> str:
        """Such as "14 copies (57,344 bytes) and 3 synchronisations"."""
        size = sum(counts[1] for counts in self._counts.values())
        copies = f"{self.copies} {'copy' if self.copies == 1 else 'copies'} ({size:,} bytes)"
        return f"{copies} and {self.syncs} {'synchronisation' if self.syncs == 1 else 'synchronisations'}"


@dataclass(slots=True)
class _Recorder:
    ledger: Ledger | None = None
    quiet: int = 0


RECORDER = _Recorder()
"""The ledger of this process; None costs one test an event. ``quiet`` is above 0 inside an event that counts once."""


def record_sync(cause: str) -> None:
    """The host waits for a device here."""
    if RECORDER.ledger is not None and not RECORDER.quiet:
        RECORDER.ledger.add("sync", cause, 0, False, user_place(2))


def record_copy(kind: EntryKind, cause: str, tensor: Any, implicit: bool = False) -> None:
    """The bytes of ``tensor`` travel here."""
    if RECORDER.ledger is not None and not RECORDER.quiet:
        RECORDER.ledger.add(kind, cause, tensor.numel() * tensor.element_size(), implicit, user_place(2))


@contextmanager
def as_one_event() -> Iterator[None]:
    """Nothing inside counts: the caller has recorded the event as a whole (a printout)."""
    RECORDER.quiet += 1
    try:
        yield
    finally:
        RECORDER.quiet -= 1
