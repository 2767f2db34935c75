"""Texts that several tests ask about are examined once.

What is said of a text depends on the text, its name and the settings alone. A repair examines the text that it starts from and what its fixes leave,
and a test that repairs it safely, then unsafely, then what came out, would examine the same texts again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchdevlint import linter
from torchdevlint.linter import Examination
from torchdevlint.settings import Settings
from torchdevlint.source.source import Source

_examine = linter.examine
_known: dict[tuple[Source, Settings], Examination] = {}


def examine(source: Source, settings: Settings, **others: Any) -> Examination:
    """As `linter.examine`, which is asked once for a text under its name."""
    if any(others.values()):
        return _examine(source, settings, **others)
    key = (source, settings)
    if key not in _known:
        _known[key] = _examine(source, settings)
    return _known[key]


@contextmanager
def once() -> Iterator[None]:
    """The linter asks `examine`."""
    linter.examine = examine
    try:
        yield
    finally:
        linter.examine = _examine
