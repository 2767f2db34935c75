"""Streams and events: work is done when the call returns, so they only keep time and order, and end hazards."""

from __future__ import annotations

import time
from typing import Any

import torch

from torchdevlint.machine import hazards
from torchdevlint.machine.patches import replace
from torchdevlint.machine.state import STATE, normal_device


class Event:
    """torch.cuda.Event."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> None:
        self._seconds: float | None = None
        self.cuda_event = 0

    def record(self, stream: Any = None) -> None:
        self._seconds = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        return None

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        hazards.synchronised("Event.synchronize")

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two records."""
        if self._seconds is None or end_event._seconds is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._seconds - self._seconds) * 1e3


class Stream:
    """torch.cuda.Stream."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device = normal_device("cuda" if device is None else device)
        self.priority = priority
        self.cuda_stream = self.stream_id = 0

    @property
    def device_index(self) -> int:
        return self.device.index  # type: ignore[no-any-return]

    def synchronize(self) -> None:
        hazards.synchronised("Stream.synchronize")

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def wait_stream(self, stream: Any) -> None:
        return None

    def wait_event(self, event: Any) -> None:
        return None

    def record_event(self, event: Event | None = None) -> Event:
        event = Event() if event is None else event
        event.record()
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream=0x0>"


class StreamContext:
    """`with torch.cuda.stream(s)`: s's device becomes current inside; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before = 0

    def __enter__(self) -> None:
        self._before = STATE.current.index
        if self.stream is not None:
            STATE.current.index = self.stream.device.index

    def __exit__(self, *_: object) -> None:
        STATE.current.index = self._before


def current_stream(device: Any = None) -> Stream:
    return Stream(device)


def default_stream(device: Any = None) -> Stream:
    return Stream(device)


def set_stream(stream: Any) -> None:
    return None


class _GenericEvent(Event):
    """torch.Event names its device first."""

    def __init__(self, device: Any = None, **options: Any) -> None:
        super().__init__(**options)


def install() -> None:
    """Patch torch.cuda, its streams module, and the generic torch.Stream and torch.Event."""
    for owner in (torch.cuda, torch.cuda.streams):
        for name, value in (("Stream", Stream), ("Event", Event), ("ExternalStream", Stream)):
            replace(owner, name, value)  # C++ classes that a CPU build has only as dummies
    functions = (current_stream, default_stream, set_stream)
    for function in functions:
        replace(torch.cuda, function.__name__, function)
    replace(torch.cuda, "stream", StreamContext)
    replace(torch.cuda, "StreamContext", StreamContext)
    replace(torch, "Stream", type("Stream", (Stream,), {"__module__": "torch"}))
    replace(torch, "Event", _GenericEvent)
