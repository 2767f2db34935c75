"""docs/benchmarks.md: each script writes its own section, between its own markers."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table; numbers are set to the right by their heading's column."""
    rows = [[str(cell) for cell in row] for row in rows]
    right = [all(re.fullmatch(r"\d[\d.,]*%?|-", row[column]) for row in rows) for column in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("--:" if side else "---" for side in right) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def with_section(page: str, name: str, lines: Iterable[str]) -> str:
    """The page's text with the section `name` replaced; raises `ValueError` when the page has no markers of this name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page has no markers {begin} ... {end}")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return "\n".join([before + begin, *lines, end + after])


def write_section(name: str, lines: Iterable[str]) -> None:
    """Replaces one section of docs/benchmarks.md."""
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), name, lines), encoding="utf-8", newline="\n")


def today() -> str:
    """The date for a section's first line."""
    return datetime.date.today().isoformat()
