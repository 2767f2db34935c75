"""Workflow commands that GitHub Actions shows on the line of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchdevlint.findings import Finding, Outcome
from torchdevlint.reporting.plain import shown
from torchdevlint.reporting.style import Style

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """One command for each finding."""
    for outcome in outcomes:
        for finding in outcome.findings:
            yield _command(finding)


def _command(finding: Finding) -> str:
    start, end = finding.span.start, finding.span.end
    properties = {
        "title": f"torchdevlint ({finding.code})",
        "file": finding.filename,
        "line": start.row,
        "col": start.column,
        "endLine": end.row,
        "endColumn": end.column,
    }
    if end.row != start.row:
        del properties["endColumn"]  # GitHub refuses columns on several lines
        del properties["col"]
    if finding.cell is not None:
        properties = {
            name: properties[name] for name in ("title", "file")
        }  # rows are those of the cell, not of the file
    joined = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    message = f"{finding.filename}:{finding.place}: {finding.code} {finding.message}"
    return f"::{_COMMANDS[finding.severity.label]} {joined}::{_data(shown(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return shown(_data(text).replace(":", "%3A").replace(",", "%2C"))
