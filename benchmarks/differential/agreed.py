"""Disagreements that were mended, kept as small programs: a regression test, and no figure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from differential.judges import Answer, Linter, Verdict
from differential.programs import Program
from differential.score import FALSE_NOTE, FOUND, SILENT, Case, outcome_of
from differential.shrink import Shrinker

PATH = Path(__file__).resolve().parent / "agreed.jsonl"


@dataclass(frozen=True, slots=True)
class Agreed:
    """A program, what the machine says of it ("ok" or "fault", with the lines of its story), and how the linter once stood to that."""

    program: Program
    verdict: Verdict
    was: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, one line of agreed.jsonl."""
        story = sorted([file, row] for file, row in self.verdict.story | self.verdict.calls)
        program = {"shown": dict(self.program.shown), "entry": self.program.entry, "hidden": self.program.hidden}
        return {"was": self.was, "kind": self.verdict.kind, "story": story, **program}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Agreed:
        """What `to_dict` gave."""
        verdict = Verdict(data["kind"], story=frozenset((file, row) for file, row in data["story"]))
        return cls(Program(data["shown"], data["entry"], data["hidden"]), verdict, data["was"])


def read(path: Path = PATH) -> list[Agreed]:
    """All of them."""
    if not path.exists():
        return []
    return [Agreed.of(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]


def agrees(verdict: Verdict, answer: Answer, program: Program) -> bool:
    """Whether the linter says what the machine says."""
    return outcome_of(verdict, answer, program.shown) in (FOUND, SILENT, FALSE_NOTE)


def add(case: Case, shrinker: Shrinker | None, here: Linter, path: Path = PATH) -> int:
    """Adds a case, with a shrinker as small as it gets while both linters keep their words; 1, or 0 where it is there already."""
    entry = Agreed(case.program, case.verdict, case.outcome)
    if shrinker is not None:
        small = shrinker.shrink(case.program)
        verdict = shrinker.machine.run([small])[0]
        if verdict.kind == case.verdict.kind and agrees(verdict, here.ask([small])[0], small):
            entry = Agreed(small, verdict, case.outcome)
    lines = [json.dumps(known.to_dict()) for known in read(path)]
    line = json.dumps(entry.to_dict())
    if line in lines:
        return 0
    path.write_text("\n".join([*lines, line]) + "\n", encoding="utf-8", newline="\n")
    return 1
