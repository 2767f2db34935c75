"""A JSON array in ruff's field names, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torchdevlint.findings import Finding, Outcome, Position
from torchdevlint.reporting.style import Style


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """One object a line, so that the array can be read while it is long."""
    items = [json.dumps(as_object(finding)) for outcome in outcomes for finding in outcome.findings]
    yield "[" + ("" if items else "]")
    for index, item in enumerate(items):
        yield f"  {item}" + ("," if index + 1 < len(items) else "")
    if items:
        yield "]"


def as_object(finding: Finding) -> dict[str, Any]:
    """The object of one finding; rows and columns count from 1, columns in code points."""
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.label,
        "message": finding.message,
        "filename": _absolute(finding.filename),
        "cell": finding.cell,
        "location": _location(finding.span.start),
        "end_location": _location(finding.span.end),
        "url": None,
        "noqa_row": finding.noqa_row,
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability.value,
            "message": fix.message,
            "edits": [
                {
                    "content": edit.content,
                    "location": _location(edit.span.start),
                    "end_location": _location(edit.span.end),
                }
                for edit in fix.edits
            ],
        },
        "related": [
            {"filename": _absolute(other.filename), "location": _location(other.span.start), "message": other.message}
            for other in finding.related
        ],
    }


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _absolute(filename: str) -> str:
    return filename if filename == "-" else str(Path(filename).absolute())
