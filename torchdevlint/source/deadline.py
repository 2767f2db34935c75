"""The time that one file may take.

The analysis asks now and then whether its time is over; nothing is interrupted from outside, so that it works in every thread, in an
editor and on every system. The time is that of the processor in the present thread: a machine that is busy with other work makes no
file slow.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 60.0
VARIABLE = "TORCHDEVLINT_SECONDS_PER_FILE"

_STEPS = 64  # between two looks at the clock, which costs as much as some steps


class OutOfTime(BaseException):
    """A file took longer than it may. No `Exception`: nothing that survives the failure of a part of the work may go on behind it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.message = (
            f"not checked: it took more than {seconds:g} seconds (set {VARIABLE} to allow more, or exclude it)"
        )


class _State(threading.local):
    end: float | None = None  # by the clock of the thread
    seconds: float = 0.0
    earliest: float = 0.0  # by the clock on the wall: no thread takes more of a processor's time than passes there


_state = _State()
_steps = itertools.count(1)  # of all threads: what belongs to one is asked for at one step of many


def seconds_per_file() -> float:
    """The seconds that one file may take: the environment's word, or the default."""
    try:
        return float(os.environ[VARIABLE])
    except (KeyError, ValueError):
        return SECONDS


@contextmanager
def limited() -> Iterator[None]:
    """Around the work on one file; inside another such block it changes nothing. `OutOfTime` is raised by `check` once the time is over."""
    if _state.end is not None:
        yield
        return
    _state.seconds = seconds_per_file()
    _state.end = time.thread_time() + _state.seconds
    _state.earliest = time.monotonic() + _state.seconds
    try:
        yield
    finally:
        _state.end = None


def forget() -> None:
    """Forgets the limit of the present thread: an examination that a signal ended may have left its own behind."""
    _state.end = None


def check() -> None:
    """Raises `OutOfTime` when the time of the present file is over."""
    if next(_steps) % _STEPS or _state.end is None or time.monotonic() <= _state.earliest:
        return
    if time.thread_time() > _state.end:  # a system call, which takes its time in a container
        raise OutOfTime(_state.seconds)


def left() -> tuple[float, float] | None:
    """The seconds that are left and those that there were; None without a limit. What another thread goes on with: see `resumed`."""
    return None if _state.end is None else (_state.end - time.thread_time(), _state.seconds)


@contextmanager
def resumed(rest: tuple[float, float] | None) -> Iterator[None]:
    """Around work that goes on in the present thread with what is `left` in another."""
    before = _state.end, _state.seconds, _state.earliest
    if rest is not None:
        _state.end, _state.seconds = time.thread_time() + rest[0], rest[1]
        _state.earliest = time.monotonic() + rest[0]
    try:
        yield
    finally:
        _state.end, _state.seconds, _state.earliest = before
