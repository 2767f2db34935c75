"""For people: the message, the source line with a caret, the related places, and the fix as a diff."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchdevlint.reporting import concise, diff
from torchdevlint.reporting.plain import shown, shown_name
from torchdevlint.reporting.style import SEVERITY_COLOURS, Style

if TYPE_CHECKING:
    from torchdevlint.findings import Finding, Outcome, Span


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """A paragraph for each finding, then a summary. Findings that repeat within a file are folded after the first."""
    for outcome in outcomes:
        rows = re.split("\r\n|\r|\n", outcome.text)
        for finding, repeats in _folded(outcome.findings):
            yield from _paragraph(finding, repeats, rows, outcome.text, style)
            yield ""
    yield from concise.summary(outcomes, style)


def _folded(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Each finding with those behind it in the file that say the same (code and message)."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.message), []).append(finding)
    return [(first, rest) for first, *rest in groups.values()]


def _paragraph(
    finding: Finding, repeats: Sequence[Finding], rows: Sequence[str], text: str, style: Style
) -> Iterator[str]:
    start = finding.span.start
    label = finding.severity.label
    head = style.paint(f"{finding.code} {finding.name}", SEVERITY_COLOURS[label], "bold")
    yield f"{shown_name(finding.filename)}:{start.row}:{start.column}: {label}: {head}"
    yield f"  {shown(finding.message)}"
    yield from _excerpt(finding.span, rows, SEVERITY_COLOURS[label], style)
    for other in finding.related:
        yield f"  {style.paint('note:', 'cyan')} line {other.span.start.row}: {shown(other.message)}"
        yield from _excerpt(other.span, rows, "cyan", style)
    if repeats:
        yield f"  {style.paint('note:', 'cyan')} the same on line{'s'[: len(repeats) > 1]} {_rows(repeats)}"
    if finding.fix is not None:
        kind = "fix" if concise.is_fixable(finding, style) else "fix (unsafe)"
        yield f"  {style.paint(kind + ':', 'green')} {shown(finding.fix.message)}"
        changed = diff.unified(_one_newline(text), _one_newline(diff.apply(text, finding.fix.edits)), context=0)
        for line in itertools.islice(changed, 2, None):
            if not line.startswith(("@@", "\\ No newline")):
                yield "    " + diff.painted(line, style._replace(terminal=True))


def _rows(findings: Sequence[Finding], most: int = 12) -> str:
    rows = [str(finding.span.start.row) for finding in findings]
    return ", ".join(rows[:most]) + (f" and {len(rows) - most} more" if len(rows) > most else "")


def _one_newline(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _excerpt(span: Span, rows: Sequence[str], colour: str, style: Style) -> Iterator[str]:
    """The first line of a span with carets below it."""
    if not 0 < span.start.row <= len(rows):
        return
    row = rows[span.start.row - 1]
    last = span.end.column - 1 if span.end.row == span.start.row else len(row.rstrip())
    before = row[: span.start.column - 1]
    marked = row[span.start.column - 1 : max(last, span.start.column)]
    number = str(span.start.row)
    margin = " " * (len(number) + 1)
    yield f"  {style.paint(margin + '|', 'dim')}"
    yield f"  {style.paint(number + ' |', 'dim')} {shown(row.rstrip().expandtabs())}"
    # Tabs are expanded as in the line above; wide characters take two cells.
    offset = _width(shown(before.expandtabs()))
    width = max(1, _width(shown((before + marked).expandtabs())) - offset)
    yield f"  {style.paint(margin + '|', 'dim')} {' ' * offset}{style.paint('^' * width, colour, 'bold')}"


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
