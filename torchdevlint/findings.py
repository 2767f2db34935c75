"""What the linter says: findings, their places and their fixes, as plain frozen data."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from torchdevlint.severity import Severity

__all__ = [
    "Applicability",
    "Edit",
    "Finding",
    "Fix",
    "Outcome",
    "Position",
    "Related",
    "Severity",
    "Sighting",
    "Sightings",
    "Span",
]


class Applicability(enum.Enum):
    """Whether a fix may be applied without a person reading it (`--fix`) or not (`--unsafe-fixes`)."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: row and column count from 1, columns in code points."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open stretch of text: `end` is the position behind its last character."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the text between two offsets (code points of the decoded text) by `content`. `cell` is None outside notebooks."""

    start: int
    end: int
    content: str
    span: Span
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that are applied together or not at all; sorted, never overlapping each other."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding speaks of: where a tensor was made, where the model moved."""

    filename: str
    span: Span
    message: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault on one place of one file.

    `message` says in at most 110 characters what is wrong and what to do, `detail` what happens at run time and why ("" where that is all).
    """

    code: str
    name: str
    severity: Severity
    message: str
    filename: str
    span: Span
    noqa_row: int
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    cell: int | None = None
    detail: str = ""

    @property
    def place(self) -> str:
        """Where in its file it is: `row:column`, in a notebook `cell 3:row:column`."""
        start = self.span.start
        return f"{f'cell {self.cell}:' if self.cell else ''}{start.row}:{start.column}"

    @property
    def sort_key(self) -> tuple[str, int, Span, str]:
        """Findings are reported by file, cell, place and code."""
        return (self.filename, self.cell or 0, self.span, self.code)


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a run saw a name hold: a tensor or a module, and its device as PyTorch spells it ("" where that differed or is unknown)."""

    kind: Literal["tensor", "module"]
    device: str


Sightings = Mapping[tuple[int, str], Sighting]
"""By row and name: the row of the `def` for a parameter, that of the target for an assignment."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of one file: the findings that remain, those that were repaired, and the text before and after.

    `text` is what the positions of `findings` refer to. `stored` are the bytes to write and `read` those that they replace, None when
    nothing changes. `problems` are sentences for stderr that make the run fail (exit code 2), `notes` those that do not. Of a notebook, `original` is the file, `text`
    its cells as one program, and `cells` tells by a cell's number how many rows of `text` stand before it. `hides_notes`: the level hides something.
    """

    filename: str
    findings: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    original: str = ""
    text: str = ""
    stored: bytes | None = None
    read: bytes | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cells: Mapping[int, int] = field(default_factory=dict)
    hides_notes: bool = False

    def row(self, finding: Finding | Related) -> int:
        """The row of `text` in which a finding, or a related place, begins."""
        return finding.span.start.row + self.cells.get(finding.cell or 0, 0)
