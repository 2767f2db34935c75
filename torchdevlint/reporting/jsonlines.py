"""One JSON object on a line for each finding: for programs that read while the report is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchdevlint.findings import Outcome
from torchdevlint.reporting.json import as_object, dumps
from torchdevlint.reporting.style import Style


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """The objects of the `json` format."""
    for outcome in outcomes:
        for finding in outcome.findings:
            yield dumps(as_object(finding))
