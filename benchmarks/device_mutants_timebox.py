"""A pytest plugin for long suites (`-p device_mutants_timebox`): the first case of every test first, the short ones first, an end after so many seconds.

`TIMEBOX_SECONDS` of CPU time end the run (counted from the first test), `TIMEBOX_TEST` seconds of it a test that takes longer. The later runs of a mutant
session, of chosen tests alone, have four times as much: a test that only just ended in the first one must not fail there for want of time.
`TIMEBOX_CPU` names a file for the CPU seconds of each test, `TIMEBOX_ORDER` such a file of an earlier run, which says how long they take;
with `TIMEBOX_OLD_NUMPY` NumPy has the aliases (`np.float`, `np.product`) that suites from before 2.0 need.
"""

from __future__ import annotations

import collections
import json
import math
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_MORE = 4 if json.loads(os.environ.get("TORCHDEVLINT_MUTANTS", "{}")).get("only") else 1
_LIMIT = _MORE * float(os.environ.get("TIMEBOX_SECONDS", "inf"))
_TEST = _MORE * int(os.environ.get("TIMEBOX_TEST", "0"))
_CPU: dict[str, float] = {}
_BEGAN: list[float] = []
_FAILED: set[str] = set()
"""Tests that fail plainly: how long they take to fail says nothing."""


_OLD_NAMES = {"float": float, "int": int, "bool": bool, "object": object, "complex": complex, "str": str}


class TooLong(Exception):
    """A test took longer than its share."""


def pytest_configure() -> None:
    """Give NumPy its old names back."""
    if os.environ.get("TIMEBOX_OLD_NUMPY"):
        import numpy

        for name, kind in {**_OLD_NAMES, "float_": numpy.float64, "product": numpy.prod}.items():
            if name not in vars(numpy):
                setattr(numpy, name, kind)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Breadth first: many tests with one case each say more than one test with many, and many short ones more than a long one."""
    earlier = Path(os.environ.get("TIMEBOX_ORDER", ""))
    seconds = json.loads(earlier.read_text(encoding="utf-8")) if earlier.is_file() else {}
    counts: collections.Counter[str] = collections.Counter()
    order: dict[str, tuple[int, float]] = {}
    for item in items:
        name = item.nodeid.split("[")[0]
        order[item.nodeid] = counts[name], seconds.get(item.nodeid, math.inf)
        counts[name] += 1
    items.sort(key=lambda item: order[item.nodeid])


def _alarm(*_: Any) -> None:
    raise TooLong(f"more than {_TEST} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hold the limits, and keep the CPU time."""
    _BEGAN[:] = _BEGAN or [time.process_time()]
    if time.process_time() - _BEGAN[0] > _LIMIT:
        item.session.shouldstop = "the time is up"
    began = time.process_time()
    yield
    if item.nodeid not in _FAILED:
        _CPU[item.nodeid] = round(time.process_time() - began, 4)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Know what fails plainly."""
    if report.failed and "TORCHDEVLINT_MUTANTS" not in os.environ:
        _FAILED.add(report.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that takes too long."""
    if _TEST:
        signal.signal(signal.SIGVTALRM, _alarm)
        signal.setitimer(signal.ITIMER_VIRTUAL, _TEST)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def pytest_sessionfinish() -> None:
    """Write the CPU times."""
    name = os.environ.get("TIMEBOX_CPU")
    if name and _CPU:
        path = Path(name)
        if not path.exists():  # the first run of a session is the one that counts
            path.write_text(json.dumps(_CPU), encoding="utf-8")
