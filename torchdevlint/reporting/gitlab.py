"""GitLab's code quality report: a JSON array of issues in the shape of Code Climate's, with GitLab's limits on the fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchdevlint.findings import Finding, Outcome
from torchdevlint.reporting.fingerprint import fingerprinted, relative
from torchdevlint.reporting.json import dumps
from torchdevlint.reporting.plain import shown
from torchdevlint.reporting.style import Style

_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """One array."""
    issues = [_issue(finding, fingerprint) for _, finding, fingerprint in fingerprinted(outcomes)]
    yield from dumps(issues, indent=1).split("\n")


def _issue(finding: Finding, fingerprint: str) -> dict[str, object]:
    # In a notebook the rows are those of a cell: the description tells them, and the place is the file.
    where = "" if finding.cell is None else f" (cell {finding.cell}, line {finding.span.start.row})"
    start, end = (finding.span.start.row, finding.span.end.row) if finding.cell is None else (1, 1)
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code} {shown(finding.message)}{where}",
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[finding.severity.label],
        "fingerprint": fingerprint,
        "location": {"path": shown(relative(finding.filename)), "lines": {"begin": start, "end": end}},
    }
