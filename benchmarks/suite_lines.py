"""A pytest plugin (`-p suite_lines`): which of some lines each test executes.

`SUITE_SPOTS` names a JSON file, {absolute path: lines}; `SUITE_LINES` the file for the answer, {test: {path: lines}}. Only functions that hold such a line are traced.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

_SPOTS = {
    path: frozenset(lines)
    for path, lines in json.loads(Path(os.environ["SUITE_SPOTS"]).read_text(encoding="utf-8")).items()
}
_OF_CODE: dict[CodeType, frozenset[int]] = {}
_LINES: dict[str, dict[str, set[int]]] = {}
_CURRENT: list[dict[str, set[int]]] = [{}]


def _spots_of(code: CodeType) -> frozenset[int]:
    known = _OF_CODE.get(code)
    if known is None:
        wanted = _SPOTS.get(code.co_filename, frozenset())
        known = _OF_CODE[code] = wanted & {line for _, _, line in code.co_lines() if line is not None}
    return known


def _local(frame: Any, event: str, _: Any) -> Any:
    if event == "line" and frame.f_lineno in _OF_CODE[frame.f_code]:
        _CURRENT[0].setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
    return _local


def _trace(frame: Any, event: str, _: Any) -> Any:
    return _local if frame.f_code.co_filename in _SPOTS and _spots_of(frame.f_code) else None


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Lines that run now, fixtures included, belong to this test."""
    if not _SPOTS:
        yield
        return
    _CURRENT[0] = _LINES.setdefault(item.nodeid, {})
    sys.settrace(_trace)
    yield
    sys.settrace(None)


def pytest_sessionfinish() -> None:
    """Write the answer."""
    told = {test: {path: sorted(lines) for path, lines in its.items()} for test, its in _LINES.items() if its}
    Path(os.environ["SUITE_LINES"]).write_text(json.dumps(told), encoding="utf-8")
