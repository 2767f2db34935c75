"""One line for each finding: `path:row:column: CODE [*] message`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torchdevlint.reporting.plain import shown, shown_name
from torchdevlint.reporting.style import SEVERITY_COLOURS, Style

if TYPE_CHECKING:
    from torchdevlint.findings import Finding, Outcome


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """The lines, then a summary."""
    for outcome in outcomes:
        for finding in outcome.findings:
            yield line(finding, style)
    yield from summary(outcomes, style)


def line(finding: Finding, style: Style) -> str:
    """The line of one finding; `[*]` marks one that `--fix` repairs."""
    place = f"{style.paint(shown_name(finding.filename), 'bold')}:{finding.place}:"
    code = style.paint(finding.code, SEVERITY_COLOURS[finding.severity.label], "bold")
    mark = style.paint("[*] ", "cyan") if is_fixable(finding, style) else ""
    return f"{place} {code} {mark}{shown(finding.message)}"


def is_fixable(finding: Finding, style: Style) -> bool:
    """Whether the fixes that were asked for repair it."""
    return finding.fix is not None and (style.unsafe_fixes or finding.fix.applicability.value == "safe")


def summary(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """How many findings, how many repaired, how many could be; nothing where the run is quiet."""
    if style.quiet:
        return
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    repaired = [finding for outcome in outcomes for finding in outcome.fixed]
    if repaired:
        yield f"Repaired {_count(repaired)}, {len(findings)} left."
    elif findings:
        yield f"Found {_count(findings)}."
    elif not style.problems:
        yield style.paint("No faults found.", "green")
    if style.problems:
        yield style.paint(f"Not everything could be checked: {_problems(len(style.problems))} told on stderr.", "red")
    if any(outcome.hides_notes for outcome in outcomes):
        yield "There are notes as well, of what is doubtful or by design: `--level info` shows them."
    fixable = sum(is_fixable(finding, style) for finding in findings)
    hidden = sum(finding.fix is not None for finding in findings) - fixable
    if fixable:
        yield f"{style.paint('[*]', 'cyan')} {fixable} can be repaired with `--fix`" + (
            f" ({hidden} more with `--unsafe-fixes`)." if hidden else "."
        )
    elif hidden:
        yield f"{hidden} can be repaired with `--fix --unsafe-fixes`."


def _problems(number: int) -> str:
    return "1 problem is" if number == 1 else f"{number} problems are"


def _count(findings: Sequence[Finding]) -> str:
    """Faults are counted apart from notes, which tell of style and speed."""
    notes = sum(finding.severity.label == "info" for finding in findings)
    counts = ((len(findings) - notes, "fault"), (notes, "note"))
    return " and ".join(f"{number} {word}{'s'[: number != 1]}" for number, word in counts if number)
