"""Calls a function where recursion is cheap, or where deep recursion is safe: in a thread of its own with a big stack."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from torchdevlint.source import deadline

T = TypeVar("T")

_STACK = 256 * 1024 * 1024  # bytes; address space, of which only what is used becomes memory
_RECURSION_LIMIT = 60_000  # Python frames
_lock = threading.Lock()  # the stack size and the recursion limit belong to the whole process


class _Here(threading.local):
    is_deep: bool = False


_here = _Here()


def may_go_deeper(error: Exception) -> bool:
    """True for what a bigger stack may help against: a part that survives failures of others hands it on."""
    return isinstance(error, RecursionError) and not _here.is_deep


def call_with_wide_frames(function: Callable[[], T]) -> T:
    """What `function()` returns or raises, with room for the frames that it calls.

    CPython (3.11 and later) keeps the frames of Python functions in chunks of 16 kB, and gives a chunk back to the system as soon as control leaves
    it (`push_chunk` in Python/pystate.c): where calls go up and down over the end of one, each call costs two system calls, a fifth of the
    time of a run. The frame of this function is so wide that the chunk made for it has 1 MB to spare.
    """
    return function()


# More than half of 2 MB in words of 8 bytes, so that the chunk is one of 2 MB. What of a frame is no variable is not written, so it costs no memory.
_WORDS = 131_500
call_with_wide_frames.__code__ = call_with_wide_frames.__code__.replace(co_stacksize=_WORDS)


def call_with_deep_stack(function: Callable[[], T]) -> T:
    """What `function()` returns or raises, run in a thread with a stack of 256 MiB and a high recursion limit.

    In such a thread it is called as it is: there is no deeper stack.
    """
    if _here.is_deep:
        return function()
    results: list[T] = []
    errors: list[BaseException] = []
    rest = deadline.left()

    def run() -> None:
        _here.is_deep = True
        try:
            with deadline.resumed(rest):
                results.append(call_with_wide_frames(function))
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
