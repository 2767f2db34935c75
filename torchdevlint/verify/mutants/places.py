"""What the linter says at the places of faults, and its repairs there. The linter runs as a command of its own."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NEAR = 3
"""A finding speaks of a fault where its lines or a related place are so close to a line of the fault."""


@dataclass(frozen=True, slots=True)
class Told:
    """A finding of the linter at a place."""

    code: str
    severity: str
    file: str
    row: int
    message: str
    edits: tuple[tuple[int, int, int, int, str], ...] = ()
    """Row, column, end row, end column (1-based) and the new text; none without a repair."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in the names of the linter's JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "filename": self.file,
            "row": self.row,
            "message": self.message,
            "fix": bool(self.edits),
        }


def findings_at(places: Sequence[Sequence[tuple[str, int]]]) -> list[list[Told]]:
    """For each place (its lines) what the linter says there, notes included."""
    files = sorted({file for lines in places for file, _ in lines if file.endswith(".py") and Path(file).is_file()})
    found = _lint(files) if files else []
    return [[_told(item) for item in found if _is_near(item, lines)] for lines in places]


def _lint(files: Sequence[str]) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "torchdevlint",
        "check",
        "--level",
        "info",
        "--output-format",
        "json",
        "--exit-zero",
        *files,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _is_near(item: dict[str, Any], lines: Sequence[tuple[str, int]]) -> bool:
    spans = [(item["filename"], item["location"]["row"], item["end_location"]["row"])]
    spans += [(r["filename"], r["location"]["row"], r["location"]["row"]) for r in item["related"]]
    return any(
        file == name and first - _NEAR <= line <= last + _NEAR for file, line in lines for name, first, last in spans
    )


def _told(item: dict[str, Any]) -> Told:
    fix = item["fix"]
    edits = tuple(
        (
            e["location"]["row"],
            e["location"]["column"],
            e["end_location"]["row"],
            e["end_location"]["column"],
            e["content"],
        )
        for e in (fix["edits"] if fix and not item.get("cell") else ())
    )
    return Told(item["code"], item["severity"], item["filename"], item["location"]["row"], item["message"], edits)


@dataclass(slots=True)
class Repaired:
    """Files with repairs, as texts, and the way back from their lines."""

    texts: dict[str, str] = field(default_factory=dict)
    diff: str = ""
    _old: dict[str, dict[int, int]] = field(default_factory=dict)

    def before(self, line: Any) -> Any:
        """The line of the unrepaired file for one of the repaired."""
        if line is None:
            return None
        return [line[0], self._old.get(line[0], {}).get(line[1], line[1])]

    def add(self, path: str, old: str, new: str) -> None:
        """Keep the new text of a file."""
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
        lines = self._old[path] = {}
        for _, start, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            for offset in range(last - first):
                lines[first + offset + 1] = min(start + offset, max(end - 1, start)) + 1
        self.texts[path] = new
        self.diff += "".join(difflib.unified_diff(before, after, path, path))


def repairs(told: Sequence[Told]) -> Repaired:
    """The files with the repairs of these findings. Where two overlap, the first one stands."""
    made = Repaired()
    for path in dict.fromkeys(item.file for item in told if item.edits):
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        taken: list[tuple[int, int, str]] = []
        for item in dict.fromkeys(item for item in told if item.file == path):
            spans = [(starts[r - 1] + c - 1, starts[er - 1] + ec - 1, new) for r, c, er, ec, new in item.edits]
            if all(
                end <= a or b <= start or (start, end, new) in taken for start, end, new in spans for a, b, _ in taken
            ):
                taken += [span for span in spans if span not in taken]
        new = text
        for start, end, content in sorted(taken, reverse=True):
            new = new[:start] + content + new[end:]
        made.add(path, text, new)
    return made
