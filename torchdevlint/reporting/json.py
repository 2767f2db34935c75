"""A JSON array in ruff's field names, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torchdevlint.findings import Finding, Outcome, Position
from torchdevlint.reporting.pages import url
from torchdevlint.reporting.style import Style


def render(outcomes: Sequence[Outcome], style: Style) -> Iterator[str]:
    """One object a line, so that the array can be read while it is long."""
    objects = (as_object(finding) for outcome in outcomes for finding in outcome.findings)
    items = [dumps(item) for item in objects]
    yield "[" + ("" if items else "]")
    for index, item in enumerate(items):
        yield f"  {item}" + ("," if index + 1 < len(items) else "")
    if items:
        yield "]"


def dumps(value: object, indent: int | None = None) -> str:
    """JSON in ASCII, without what CI servers read as a command (`##[...]`)."""
    return json.dumps(value, indent=indent).replace("##", r"#\u0023")


def as_object(finding: Finding) -> dict[str, Any]:
    """The object of one finding; rows and columns count from 1, columns in code points."""
    fix = finding.fix
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.label,
        "message": _unicode(finding.message),
        "detail": _unicode(finding.detail) or None,
        "filename": _absolute(finding.filename),
        "cell": finding.cell,
        "location": _location(finding.span.start),
        "end_location": _location(finding.span.end),
        "url": url(finding.code),
        "noqa_row": finding.noqa_row,
        "fix": None
        if fix is None
        else {
            "applicability": fix.applicability.value,
            "message": _unicode(fix.message),
            "edits": [
                {
                    **_cell(edit.cell),
                    "content": edit.content,
                    "location": _location(edit.span.start),
                    "end_location": _location(edit.span.end),
                }
                for edit in fix.edits
            ],
        },
        "related": [
            {
                "filename": _absolute(other.filename),
                **_cell(other.cell),
                "location": _location(other.span.start),
                "message": _unicode(other.message),
            }
            for other in finding.related
        ],
    }


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _cell(cell: int | None) -> dict[str, int]:
    """Places in notebooks say in which cell they are."""
    return {} if cell is None else {"cell": cell}


def _absolute(filename: str) -> str:
    return filename if filename == "-" else _unicode(str(Path(filename).absolute()))


def _unicode(text: str) -> str:
    """Halves of surrogate pairs (bytes of a file name that are no UTF-8) as escapes: many JSON parsers refuse them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
