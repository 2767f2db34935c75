"""Work on many processes, some of which die."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest

from torchdevlint.workspace import pool


def square(number: int) -> int:
    """Dies of a signal for 7 and of an exit for 11."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 11:
        os._exit(3)
    return number * number


def died(number: int, how: str) -> str:
    return f"{number} {how}"


@pytest.mark.parametrize("processes", [1, 3])
def test_every_item_has_a_result(processes: int) -> None:
    results = list(pool.run(range(20), square, died, processes))
    expected = {n * n for n in range(20) if n not in (7, 11)} | {"7 was killed by SIGKILL", "11 ended with code 3"}
    assert len(results) == 20
    assert set(results) == expected


def test_stopping_early_ends_the_workers() -> None:
    results = pool.run(range(50), square, died, 2)
    next(results)
    results.close()
    assert not multiprocessing.active_children()
