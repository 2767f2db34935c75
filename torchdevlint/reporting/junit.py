"""JUnit XML, which every CI server shows: a suite for each file with findings, a failed case for each finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from torchdevlint.findings import Finding, Outcome
from torchdevlint.reporting.plain import shown
from torchdevlint.reporting.style import Style


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """A run without findings is one passed case: some servers take an empty report for a broken one. What could not be checked is an error."""
    told = [outcome for outcome in outcomes if outcome.findings]
    total = sum(len(outcome.findings) for outcome in told)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    errors = len(style.problems)
    yield f'<testsuites name="torchdevlint" tests="{max(total + errors, 1)}" failures="{total}" errors="{errors}">'
    if errors:
        yield f'  <testsuite name="torchdevlint" tests="{errors}" failures="0" errors="{errors}">'
        for number, problem in enumerate(style.problems, start=1):
            yield f'    <testcase name="not checked ({number})" classname="torchdevlint">'
            yield f"      <error message={_attribute(problem)}/>"
            yield "    </testcase>"
        yield "  </testsuite>"
    elif not told:
        yield '  <testsuite name="torchdevlint" tests="1" failures="0" errors="0">'
        yield '    <testcase name="no findings" classname="torchdevlint"/>'
        yield "  </testsuite>"
    for outcome in told:
        number = len(outcome.findings)
        yield f'  <testsuite name={_attribute(outcome.filename)} tests="{number}" failures="{number}" errors="0">'
        for finding in outcome.findings:
            yield from _case(finding)
        yield "  </testsuite>"
    yield "</testsuites>"


def _case(finding: Finding) -> Iterator[str]:
    row = f' line="{finding.span.start.row}"' if finding.cell is None else ""
    name = _attribute(f"{finding.code} {finding.name} ({finding.place})")
    yield f"    <testcase name={name} classname={_attribute(finding.filename)} file={_attribute(finding.filename)}{row}>"
    told = [f"{finding.filename}:{finding.place}: {finding.code} {finding.message}", *filter(None, [finding.detail])]
    body = escape("\n".join(map(shown, told)))
    kind, message = _attribute(finding.severity.label), _attribute(finding.message)
    yield f"      <failure type={kind} message={message}>{body}</failure>"
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(shown(text))
