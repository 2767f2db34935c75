"""For a run that wants every fault and not only the first: what is told of a fault, and whether the program goes on after it.

Values are real, so an operator that mixes devices can run all the same; its result is where the GPU's operand is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Watch:
    """What looks on. `fault(error, tensors)` says whether the operator goes on; `operand()` is called for each with a GPU operand."""

    __slots__ = ("fault", "operand")

    def __init__(self) -> None:
        self.fault: Callable[[Exception, list[Any]], bool] | None = None
        self.operand: Callable[[], None] | None = None


WATCH = Watch()


def refuse(error: Exception, tensors: list[Any]) -> None:
    """Raise the fault, unless the program goes on after it."""
    if not forgiven(error, tensors):
        raise error


def forgiven(error: Exception, tensors: list[Any]) -> bool:
    """Whether the program goes on after a fault."""
    return WATCH.fault is not None and WATCH.fault(error, tensors)
