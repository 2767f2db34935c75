"""How often each rule spoke."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from torchdevlint.findings import Finding, Outcome
from torchdevlint.reporting.concise import is_fixable
from torchdevlint.reporting.style import Style


def rows(outcomes: Sequence[Outcome], style: Style) -> list[tuple[int, str, str, int]]:
    """(count, code, name, how many are fixable), the most frequent first."""
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    counts: Counter[tuple[str, str]] = Counter(map(_rule, findings))
    fixable: Counter[tuple[str, str]] = Counter(_rule(finding) for finding in findings if is_fixable(finding, style))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(count, code, name, fixable[code, name]) for (code, name), count in ordered]


def _rule(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.name


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """A table; `[*]` marks rules all of whose findings `--fix` repairs, `[-]` some."""
    table = rows(outcomes, style)
    width = max((len(str(count)) for count, *_ in table), default=0)
    for count, code, name, fixable in table:
        mark = "[*]" if fixable == count else "[-]" if fixable else "[ ]"
        yield f"{count:>{width}}  {style.paint(code, 'bold')}  {style.paint(mark, 'cyan')}  {name}"


def as_objects(outcomes: Sequence[Outcome], style: Style) -> list[dict[str, object]]:
    """The table for `--output-format json`, in ruff's field names."""
    return [
        {"code": code, "name": name, "count": count, "fixable": fixable == count, "fixable_count": fixable}
        for count, code, name, fixable in rows(outcomes, style)
    ]
