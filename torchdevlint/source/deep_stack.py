"""Calls a function where deep recursion is safe: in a thread of its own with a big stack."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_STACK = 256 * 1024 * 1024  # bytes; address space, of which only what is used becomes memory
_RECURSION_LIMIT = 60_000  # Python frames
_lock = threading.Lock()  # the stack size and the recursion limit belong to the whole process


def call_with_deep_stack(function: Callable[[], T]) -> T:
    """What `function()` returns or raises, run in a thread with a stack of 256 MiB and a high recursion limit."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    with _lock:
        stack, limit = threading.stack_size(_STACK), sys.getrecursionlimit()
        try:
            thread = threading.Thread(target=run, name="torchdevlint-deep-stack")
            sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
            thread.start()
            thread.join()
        finally:
            threading.stack_size(stack)
            sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
