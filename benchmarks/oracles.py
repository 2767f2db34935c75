"""What tells whether the linter is right, in one table: docs/accuracy.md.

    python benchmarks/oracles.py [--run] [--before REVISION] [--kept] [--seed N] [--write]

Each oracle writes one file of plain data for each side of a comparison, `benchmarks/results/ORACLE.now.json` and `benchmarks/results/ORACLE.before.json`;
this script puts them together. `--run` runs those that need nothing but this repository first, and says in a sentence what it skips and why.

The oracles: `generated` (benchmarks/differential/: programs that the machine judges), `mutants` (device mutants of real test suites), `mined` (repairs that history
judges), `mutations` (benchmarks/mutations.py: deletions in real code), `judged` (findings that readers judged, replayed: a regression test and no result).

A results file is a JSON object:

    {"oracle": "generated", "when": "now", "revision": "40bab7e", "date": "2026-11-22", "command": "python benchmarks/differential ...",
     "about": "one sentence: what was drawn, by whom it is judged",
     "rows": [{"sample": "one construct at a time", "side": "seen", "unit": "programs",
               "faults": 2390, "found": 1670, "with_notes": 1700, "clean": 2778, "false": 1, "false_errors": 0, "false_notes": 12,
               "repairs": 900, "wrong_repairs": 3, "note": ""}]}

`side` is "seen" (whoever works on the analysis may look at these cases), "unseen" (kept from them) or "regression" (read by somebody, so that no figure follows).
`found` are faults that an error or a warning of the default level tells, `with_notes` those that a note tells as well (it contains `found`). `clean` is what was looked
at without a fault, in `unit` ("programs", "lines", "findings"), `false` the errors and warnings on it, `false_errors` the errors among them, `false_notes` further notes.
`repairs` were run, `wrong_repairs` broke what ran or left the fault that they were offered for. null stands for what an oracle cannot say.

`Row`, `Result` and `write` are for the scripts that produce such files: `from oracles import Result, Row, write`.
"""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
ORACLES = ("generated", "mutants", "mined", "mutations", "judged")
SIDES = ("seen", "unseen", "regression")
WHEN = ("before", "now")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an oracle's table; the fields as in this module's docstring."""

    sample: str
    side: str
    unit: str
    faults: int | None = None
    found: int | None = None
    with_notes: int | None = None
    clean: int | None = None
    false: int | None = None
    false_errors: int | None = None
    false_notes: int | None = None
    repairs: int | None = None
    wrong_repairs: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise ValueError(f"{self.side!r} is no side: {', '.join(SIDES)}")


@dataclass(frozen=True, slots=True)
class Result:
    """What an oracle said of one revision."""

    oracle: str
    when: str
    revision: str
    date: str
    command: str
    about: str
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        if self.oracle not in ORACLES or self.when not in WHEN:
            raise ValueError(f"{self.oracle}.{self.when}: no such oracle or side of a comparison")


def path_of(oracle: str, when: str, folder: Path = RESULTS) -> Path:
    """Where a result is kept."""
    return folder / f"{oracle}.{when}.json"


def write(result: Result, folder: Path = RESULTS) -> Path:
    """Stores a result; the path."""
    path = path_of(result.oracle, result.when, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8", newline="\n")
    return path


def read(oracle: str, when: str, folder: Path = RESULTS) -> Result | None:
    """A stored result, None where there is none. Raises `ValueError` or `TypeError` for a file that is not in this form."""
    path = path_of(oracle, when, folder)
    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return Result(**{**data, "rows": tuple(Row(**row) for row in data["rows"])})


def result_of(oracle: str, when: str, command: str, about: str, rows: Iterable[Row], checkout: Path = ROOT) -> Result:
    """A result of today, of the revision that is checked out there."""
    return Result(oracle, when, revision_of(checkout), datetime.date.today().isoformat(), command, about, tuple(rows))


def revision_of(checkout: Path) -> str:
    """The commit of a checkout, short; "+" marks changes of the analysis that are in no commit."""
    try:
        commit = _git(checkout, "rev-parse", "--short=7", "HEAD").strip()
        return commit + ("+" if _git(checkout, "status", "--porcelain", "--", "torchdevlint").strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
