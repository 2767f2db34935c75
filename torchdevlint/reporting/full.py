"""For people: the message, the source line with a caret, the reasons, the related places, and the fix as a diff."""

from __future__ import annotations

import itertools
import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torchdevlint.reporting import concise, diff
from torchdevlint.reporting.fingerprint import relative
from torchdevlint.reporting.plain import shown, shown_name
from torchdevlint.reporting.style import SEVERITY_COLOURS, Style

if TYPE_CHECKING:
    from torchdevlint.findings import Finding, Outcome, Span

_LEAST_WIDTH = 40


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """A paragraph for each finding, then a summary. Findings that repeat within a file are folded after the first."""
    for outcome in outcomes:
        rows = re.split("\r\n|\r|\n", outcome.text)
        for finding, repeats in _folded(outcome.findings):
            yield from _paragraph(finding, repeats, outcome, rows, style)
            yield ""
    yield from concise.summary(outcomes, style)


def _folded(findings: Sequence[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """Each finding with those behind it in the file that say the same."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.message, finding.detail), []).append(finding)
    return [(first, rest) for first, *rest in groups.values()]


def _paragraph(
    finding: Finding, repeats: Sequence[Finding], outcome: Outcome, rows: Sequence[str], style: Style
) -> Iterator[str]:
    label = finding.severity.label
    head = style.paint(f"{finding.code} {finding.name}", SEVERITY_COLOURS[label], "bold")
    yield f"{shown_name(finding.filename)}:{finding.place}: {label}: {head}"
    yield from _prose(finding.message, style)
    yield from _excerpt(finding.span, outcome.cells.get(finding.cell or 0, 0), rows, SEVERITY_COLOURS[label], style)
    yield from _prose(finding.detail, style)
    for other in finding.related:
        if other.filename != finding.filename:
            name = other.filename if Path(finding.filename).is_absolute() else relative(other.filename)
            where = f"{shown_name(name)}:{other.span.start.row}"
            yield f"  {style.paint('note:', 'cyan')} {where}: {shown(other.message)}"
            continue
        cell = f" of cell {other.cell}" if other.cell != finding.cell else ""
        yield f"  {style.paint('note:', 'cyan')} line {other.span.start.row}{cell}: {shown(other.message)}"
        yield from _excerpt(other.span, outcome.cells.get(other.cell or 0, 0), rows, "cyan", style)
    if repeats:
        yield f"  {style.paint('note:', 'cyan')} the same on line{'s'[: len(repeats) > 1]} {_rows(repeats)}"
    if finding.fix is not None:
        kind = "fix" if concise.is_fixable(finding, style) else "fix (unsafe)"
        yield f"  {style.paint(kind + ':', 'green')} {shown(finding.fix.message)}"
        text, repaired = outcome.text, diff.apply(outcome.text, finding.fix.edits)
        changed = diff.unified(_one_newline(text), _one_newline(repaired), context=0)
        for line in itertools.islice(changed, 2, None):
            if not line.startswith(("@@", "\\ No newline")):
                yield "    " + diff.painted(line, style._replace(terminal=True))


def _prose(text: str, style: Style) -> list[str]:
    """Lines that end at words, two columns to the right."""
    width = max(style.width, _LEAST_WIDTH)
    return textwrap.wrap(
        shown(text), width, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _rows(findings: Sequence[Finding], most: int = 12) -> str:
    rows = [f"{finding.span.start.row}{f' of cell {finding.cell}' if finding.cell else ''}" for finding in findings]
    return ", ".join(rows[:most]) + (f" and {len(rows) - most} more" if len(rows) > most else "")


def _one_newline(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _excerpt(span: Span, skipped: int, rows: Sequence[str], colour: str, style: Style) -> Iterator[str]:
    """The first line of a span with carets below it; `skipped` rows stand before its cell."""
    if not 0 < skipped + span.start.row <= len(rows):
        return
    row = rows[skipped + span.start.row - 1]
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
