"""By file: its name, then a line for each finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchdevlint.findings import Outcome
from torchdevlint.reporting.concise import is_fixable, summary
from torchdevlint.reporting.plain import shown, shown_name
from torchdevlint.reporting.style import SEVERITY_COLOURS, Style


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """The groups, then a summary."""
    for outcome in outcomes:
        if not outcome.findings:
            continue
        yield f"{style.paint(shown_name(outcome.filename), 'bold')}:"
        width = max(len(finding.place) for finding in outcome.findings)
        for finding in outcome.findings:
            code = style.paint(finding.code, SEVERITY_COLOURS[finding.severity.label], "bold")
            mark = style.paint("[*] ", "cyan") if is_fixable(finding, style) else ""
            yield f"  {finding.place:<{width}}  {code} {mark}{shown(finding.message)}"
        yield ""
    yield from summary(outcomes, style)
