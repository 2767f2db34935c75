"""What was found, as text for people and machines: a file per format.

Each format is a function `render(outcomes, style) -> Iterator[str]` that gives lines without newlines.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchdevlint.findings import Outcome
    from torchdevlint.reporting.style import Style

Render = Callable[["Sequence[Outcome]", "Style"], Iterator[str]]

FORMATS = {
    "full": "torchdevlint.reporting.full",
    "concise": "torchdevlint.reporting.concise",
    "grouped": "torchdevlint.reporting.grouped",
    "json": "torchdevlint.reporting.json",
    "json-lines": "torchdevlint.reporting.jsonlines",
    "sarif": "torchdevlint.reporting.sarif",
    "github": "torchdevlint.reporting.github",
    "gitlab": "torchdevlint.reporting.gitlab",
    "junit": "torchdevlint.reporting.junit",
}


def renderer(name: str) -> Render:
    """The format called `name`; raises `KeyError` for one that does not exist. Only its own module is imported."""
    render: Render = importlib.import_module(FORMATS[name]).render
    return render
