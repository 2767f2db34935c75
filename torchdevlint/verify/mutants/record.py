"""What a process of a mutant run saw: faults, CPU results, lines that ran with a GPU operand, outcomes of tests."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchdevlint.verify.mutants.testcode import TestCode

Line = tuple[str, int]


@dataclass(slots=True, eq=False)
class Seen:
    """A fault or a returned CPU tensor at one place, and the tests that reached it."""

    signal: str
    created: Line | None
    moved: Line | None
    met: Line | None
    operator: str
    message: str
    dims: int
    tests: list[str] = field(default_factory=list)
    count: int = 0

    def describe(self) -> str:
        """One sentence."""
        made = f"created at {_told(self.created)}" if self.created else "created outside user code"
        brought = f", brought to the CPU at {_told(self.moved)}" if self.moved else ""
        if self.signal == "return":
            return f"{self.operator} was given GPU tensors and returned a CPU tensor ({made}{brought})"
        return f"{self.message} ({made}{brought}; met at {_told(self.met)} in {self.operator})"


def _told(line: Line | None) -> str:
    return "an unknown line" if line is None else f"{line[0]}:{line[1]}"


class Recorder:
    """One per process."""

    def __init__(self, code: TestCode, folder: Path) -> None:
        self.code = code
        self.file = folder / f"mutants-{os.getpid()}.json"
        self.current = ""
        self.seen: dict[tuple[Any, ...], Seen] = {}
        self.of_test: list[Seen] = []
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.eased = 0
        self.by_test = 0
        self.missed: list[str] = []
        self.skipped: dict[str, str] = {}
        self.ran: dict[int, tuple[Any, set[int]]] = {}
        """By the id of a code object, whose hash goes through all its constants: the object, and the offsets that ran."""
        self._levels: dict[str, int] = {}

    def begin(self, test: str) -> None:
        """What is seen from here on belongs to this test."""
        self.current = test
        self.of_test = []

    # ---- signals

    def fault(self, places: Any, message: str, guilty: Iterable[tuple[Any, int]]) -> bool:
        """Keep a fault that is the library's; False where test code is to blame. `guilty`: the tags of CPU tensors and their dims.

        The line that put a tensor on the CPU is its last move, or else where it was created.
        """
        met = places.met
        if met is None or self.code.holds(met.file):
            self.eased += 1
            return False
        tags = list(guilty)
        blamed = [(tag, dims) for tag, dims in tags if not self._made_by_test(tag)]
        if tags and not blamed:
            self.by_test += 1
            return False
        tag, dims = blamed[0] if blamed else (None, -1)
        self._keep("fault", tag, met, places.operator, message, dims)
        return True

    def returned(self, tag: Any, dims: int, name: str, at: Line) -> None:
        """Keep a CPU tensor that the library gave back for GPU tensors."""
        if not self._made_by_test(tag):
            self._keep("return", tag, at, name, "", dims)

    def _made_by_test(self, tag: Any) -> bool:
        place = tag.moved or tag.born
        return place is not None and self.code.holds(place.file)

    def _keep(self, signal: str, tag: Any, met: Any, operator: str, message: str, dims: int) -> None:
        created, moved = _line(tag and tag.born), _line(tag and tag.moved)
        if created is not None and moved == created:
            moved = None
        place = operator if signal == "return" else met
        key = (signal, created, moved, place)
        seen = self.seen.get(key)
        if seen is None:
            seen = self.seen[key] = Seen(signal, created, moved, _line(met), operator, message[:300], dims)
        seen.count += 1
        if self.current not in seen.tests:
            seen.tests.append(self.current)
        if seen not in self.of_test:
            self.of_test.append(seen)

    # ---- lines

    def operand(self) -> None:
        """An operator ran with a GPU operand: keep its line of the library. Called for each operator, so it does little."""
        frame: Any = sys._getframe(2)
        levels = self._levels
        while frame is not None:
            file = frame.f_code.co_filename
            level = levels.get(file)
            if level is None:
                level = levels[file] = 0 if self.code.is_library(file) else 1 if self.code.holds(file) else 2
            if level == 0:
                code = frame.f_code
                known = self.ran.get(id(code))
                if known is None:
                    known = self.ran[id(code)] = (code, set())
                known[1].add(frame.f_lasti)
                return
            if level == 1:
                return
            frame = frame.f_back

    def lines(self) -> dict[str, list[int]]:
        """The library's lines that ran with a GPU operand, by file."""
        found: dict[str, set[int]] = {}
        for code, offsets in self.ran.values():
            found.setdefault(code.co_filename, set()).update(
                line
                for start, end, line in code.co_lines()
                if line is not None and not offsets.isdisjoint(range(start, end))
            )
        return {file: sorted(lines) for file, lines in sorted(found.items())}

    # ---- out

    def write(self) -> None:
        """Write what was seen so far; a later call replaces it."""
        data = {
            "seen": [_plain(seen) for seen in self.seen.values()],
            "outcomes": self.outcomes,
            "lines": self.lines(),
            "eased": self.eased,
            "by_test": self.by_test,
            "missed": self.missed,
            "skipped": self.skipped,
        }
        unfinished = self.file.with_suffix(".part")
        try:
            unfinished.write_text(json.dumps(data), encoding="utf-8")
            unfinished.replace(self.file)
        except OSError:
            return  # the folder is gone: nobody reads it any more


def _line(place: Any) -> Line | None:
    return None if place is None else (place[0], place[1])


def _plain(seen: Seen) -> dict[str, Any]:
    return {
        name: getattr(seen, name)
        for name in ("signal", "created", "moved", "met", "operator", "message", "dims", "tests", "count")
    }


def read(folder: Path) -> dict[str, Any]:
    """What all processes of a run wrote, merged. Unreadable files are left out."""
    merged: dict[str, Any] = {
        "seen": {},
        "outcomes": {},
        "lines": {},
        "eased": 0,
        "by_test": 0,
        "missed": [],
        "skipped": {},
    }
    for path in sorted(folder.glob("mutants-*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        for item in data["seen"]:
            key = json.dumps(
                [
                    item["signal"],
                    item["created"],
                    item["moved"],
                    item["operator"] if item["signal"] == "return" else item["met"],
                ]
            )
            known = merged["seen"].setdefault(key, {**item, "tests": [], "count": 0})
            known["tests"] = list(dict.fromkeys([*known["tests"], *item["tests"]]))
            known["count"] += item["count"]
        for test, outcome in data["outcomes"].items():
            if test not in merged["outcomes"] or outcome["outcome"] != "passed":
                merged["outcomes"][test] = outcome
        for file, lines in data["lines"].items():
            merged["lines"][file] = sorted({*merged["lines"].get(file, []), *lines})
        for name in ("eased", "by_test"):
            merged[name] += data[name]
        merged["missed"] = sorted({*merged["missed"], *data["missed"]})
        merged["skipped"].update(data["skipped"])
    merged["seen"] = list(merged["seen"].values())
    return merged
