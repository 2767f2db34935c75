"""Threads: dispatch modes are thread-local, so every new thread gets one (Thread's subclasses too)."""

from __future__ import annotations

import threading
from typing import Any

from torchdevlint.machine.dispatch import DeviceMode
from torchdevlint.machine.patches import replace


def install() -> None:
    """Patch the method that every thread runs."""
    original = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap(self: Any) -> None:
        with DeviceMode():
            original(self)

    replace(threading.Thread, "_bootstrap_inner", bootstrap)
