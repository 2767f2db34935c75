"""Signals that end a process, kept waiting while a file is replaced."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP take effect behind the block instead of within it.

    Handlers and not a signal mask: a mask holds for one thread, and the progress bar is another. Off the main thread, where Python
    allows no handlers, nothing is held.
    """
    came: list[int] = []
    before: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                handler = signal.getsignal(number)
                if handler not in (signal.SIG_IGN, None):  # None: a handler that Python did not install
                    before[number] = handler
                    signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
