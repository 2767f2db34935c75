"""What tells whether the linter is right, in one table: docs/accuracy.md.

    python benchmarks/oracles.py [--run] [--before REVISION] [--kept] [--seed N] [--trees FOLDER...] [--mirrors FOLDER] [--write]

Each oracle writes one file of plain data for each side of a comparison, `benchmarks/results/ORACLE.now.json` and `benchmarks/results/ORACLE.before.json`;
this script puts them together. `--run` renews first what can be run here: the generated programs always, the judged findings with `--trees`, the mined repairs with
`--mirrors`; what is not at hand is skipped with a sentence, and its last stored figures stay. With `--before` the generated programs and the mined repairs are asked of
that revision as well. (`mined.py` keeps both sides in one file, results/mined.json, and `mutations.py` in its page: they are read as they are.)

The oracles: `generated` (benchmarks/differential/: programs that the machine judges), `paired` (benchmarks/paired/: whole programs with one fault each, that the
machine judges), `idioms` (benchmarks/idioms/: short programs by others, that the machine judges), `mutants` (device mutants of real test suites), `mined` (repairs that
history judges), `mutations` (benchmarks/mutations.py: deletions in real code), `judged` (findings that readers judged, replayed: a regression test and no result).

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
`families`, where the faults fall into some, has the first three figures of each: {"creation": [120, 40, 51]}.

`Row`, `Result` and `write` are for the scripts that produce such files: `from oracles import Result, Row, write`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import page

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
ORACLES = ("generated", "paired", "idioms", "mutants", "mined", "mutations", "judged")
SIDES = ("seen", "unseen", "regression")
WHEN = ("before", "now")
PAGE = ROOT / "docs" / "accuracy.md"
MUTATIONS = ROOT / "docs" / "mutations.md"
TITLES = {
    "generated": "Generated programs (O1)",
    "paired": "Whole programs in pairs",
    "idioms": "Idioms",
    "mutants": "Device mutants of test suites (O2)",
    "mined": "Mined repairs (O3)",
    "mutations": "Deletions in real code (O4)",
    "judged": "Judged findings: a regression test",
}
NEEDS = {
    "generated": "`python benchmarks/differential --kept --result now`",
    "paired": "`python benchmarks/paired_programs.py score --repairs --python EXE --result now`, with an environment in which the programs run",
    "idioms": "`python benchmarks/idioms.py score --result now`",
    "mutants": "device mutants run on the test suites of fetched libraries, each in an environment of its own",
    "mined": "`python benchmarks/mined.py score MIRRORS --write`, with the fetched repositories of mined_cases.jsonl",
    "mutations": "`python benchmarks/mutations.py FOLDER... --write docs/mutations.md`, with fetched projects",
    "judged": "`python benchmarks/judged.py TREES... --write`, with the fetched repositories of judged.jsonl",
}
"""How each oracle's figures are renewed, and what that needs."""


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
    families: Mapping[str, Sequence[int]] = field(default_factory=dict)

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


# --------------------------------------------------------------------------------------------------------- other forms


def results(folder: Path = RESULTS, mutations: Path = MUTATIONS) -> dict[tuple[str, str], Result]:
    """All stored results by oracle and side of the comparison."""
    found = {(oracle, when): told for oracle in ORACLES for when in WHEN if (told := read(oracle, when, folder))}
    mined = folder / "mined.json"
    if mined.exists():
        for told in from_mined(json.loads(mined.read_text(encoding="utf-8"))):
            found.setdefault((told.oracle, told.when), told)
    if mutations.exists():
        for told in from_mutations(mutations.read_text(encoding="utf-8")):
            found.setdefault((told.oracle, told.when), told)
    return found


def from_mined(stored: Mapping[str, Any]) -> Iterable[Result]:
    """The form of mined.py: by revision ("now" for the working tree), half and way to run."""
    for name, told in stored.items():
        when, revision = ("now", told.get("revision", "")) if name == "now" else ("before", name)
        rows = []
        for half, runs in told["halves"].items():
            for sample, first, second, note in _MINED:
                plain, notes = runs.get(first), runs.get(second)
                if not plain:
                    continue
                found, seen = plain["right"], notes["right"] if notes else None
                clean, false = (plain["lines"], plain["stray"]) if plain["lines"] else (None, None)
                if plain.get("skipped"):
                    note = f"{sample}, {half}, {when}: {plain['skipped']} more skipped, whose trees took too much CPU time or have too many files"
                families = _families(plain["families"], notes["families"]) if notes else {}
                cases = plain["cases"]
                rows.append(Row(sample, half, "lines", cases, found, seen, clean, false, note=note, families=families))
        about = "Repairs that people made, mined from histories and read by nobody; a case is a commit that changes device handling alone."
        commands = "; ".join(f"`{command}`" for command in sorted(set(told.get("commands", {}).values())))
        yield Result("mined", when, revision, told["date"], commands or NEEDS["mined"], about, tuple(rows))


def _families(plain: Mapping[str, Sequence[int]], notes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Cases, found, found with notes."""
    return {family: (*counts, notes[family][1]) for family, counts in sorted(plain.items())}


_STRAY = "false: findings elsewhere in the repaired files, some of them true"
_MINED = (
    ("the file alone", "alone, default", "alone, notes", _STRAY),
    ("the file in its project", "in its project, default", "in its project, notes", ""),
    (
        "the file alone, told by four patterns",
        "patterns alone",
        "",
        "four patterns: floor.py, which looks at single expressions alone and is what a linter has to beat",
    ),
)
"""What the table shows of a run of mined.py: the sample, its figures at the default level and with notes, what to say of it."""


def from_mutations(text: str) -> Iterable[Result]:
    """The total of docs/mutations.md, whose cells are shares."""
    total = re.search(r"(?m)^\| all \| \d+ \| \d+% \| [\d%-]+ \| \d+ \| (\d+) \| (\d+)% \| ([\d]*)[%-] \|$", text)
    projects = re.search(r"(?m)^(\d+) projects; (\d+) of (\d+) untouched files are silent", text)
    if total and projects:
        confirmed, shares = int(total[1]), {"": total[2], ", in the project": total[3]}
        files, silent = int(projects[3]), int(projects[2])
        note = "false: untouched files with a finding, true or not"
        rows = [
            Row(f"confirmed by the machine{way}", "regression", "files", confirmed, round(confirmed * int(share) / 100))
            for way, share in shares.items()
            if share
        ]
        rows[-1] = replace(rows[-1], clean=files, false=files - silent, note=note)
        about = (
            f"Pieces of device handling deleted from {projects[1]} projects: the last run that docs/mutations.md shows."
        )
        yield Result("mutations", "now", "", "", NEEDS["mutations"], about, tuple(rows))


# ---------------------------------------------------------------------------------------------------------- the page


def report(found: Mapping[tuple[str, str], Result]) -> list[str]:
    """The section of docs/accuracy.md."""
    lines: list[str] = []
    for oracle in ORACLES:
        lines += ["", f"### {TITLES[oracle]}", ""]
        sides = [found[oracle, when] for when in WHEN if (oracle, when) in found]
        if not sides:
            lines.append(f"No figures yet: they come from {NEEDS[oracle]}.")
            continue
        lines += [sides[-1].about, ""]
        lines += [f"* {_WHEN[told.when]}: {_dated(told)}" for told in sides]
        lines += ["", *page.table(_HEAD, _lines_of(sides))]
        if families := _families_of(sides):
            lines += ["", "By family, found (with notes):", "", *page.table(_FAMILIES, families)]
        notes = sorted({row.note for told in sides for row in told.rows if row.note})
        lines += ["", *(f"* {note}" for note in notes)] if notes else []
    return lines[1:]


_WHEN = {"before": "before", "now": "now"}
_HEAD = (
    "sample",
    "side",
    "",
    "faults",
    "found",
    "with notes",
    "clean",
    "false",
    "errors of them",
    "repairs run",
    "wrong",
)


def _dated(told: Result) -> str:
    revision = f"revision {told.revision}" if told.revision else "the working tree of that day"
    return f"{revision}{', ' + told.date if told.date else ''}; {told.command}"


def _lines_of(sides: Sequence[Result]) -> list[list[object]]:
    order = list(dict.fromkeys((row.sample, row.side) for told in sides for row in told.rows))
    rows = [(row, told.when) for told in sides for row in told.rows]
    rows.sort(key=lambda item: (order.index((item[0].sample, item[0].side)), WHEN.index(item[1])))
    return [[row.sample, row.side, _WHEN[when], *_cells(row)] for row, when in rows]


_FAMILIES = ("sample", "side", "family", "faults", *WHEN)


def _families_of(sides: Sequence[Result]) -> list[list[object]]:
    """A line for each family of a sample and side; the faults are those of the last revision."""
    shares: dict[tuple[str, str, str], dict[str, str]] = {}
    faults: dict[tuple[str, str, str], int] = {}
    for told in sides:
        for row in told.rows:
            for family, (number, found, with_notes) in row.families.items():
                key = row.sample, row.side, family
                faults[key] = number
                shares.setdefault(key, {})[told.when] = f"{_share(found, number)} ({_share(with_notes, number)})"
    return [[*key, faults[key], *(shares[key].get(when, "-") for when in WHEN)] for key in sorted(shares)]


def _cells(row: Row) -> list[object]:
    return [
        _number(row.faults),
        _share(row.found, row.faults),
        _share(row.with_notes, row.faults),
        f"{_number(row.clean)} {row.unit}" if row.clean is not None else "-",
        _number(row.false),
        _number(row.false_errors),
        _number(row.repairs),
        _number(row.wrong_repairs),
    ]


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _share(part: int | None, whole: int | None) -> str:
    return "-" if part is None or not whole else f"{part / whole:.0%}"


# ----------------------------------------------------------------------------------------------------------- running


def run(options: argparse.Namespace) -> None:
    """Renews what can be run here; a sentence for what cannot."""
    generated = [
        sys.executable,
        "benchmarks/differential",
        *(["--seed", str(options.seed)] if options.seed is not None else []),
    ]
    generated += ["--kept"] if options.kept else []
    _call([*generated, *(["--compare", options.before] if options.before else ["--result", "now"])])
    _call([sys.executable, "benchmarks/idioms.py", "score", "--result", "now"])
    if options.mirrors:
        mined = [sys.executable, "benchmarks/mined.py", "score", str(options.mirrors), "--write"]
        for revision in (["--revision", options.before] if options.before else None, []):
            if revision is not None:
                _call([*mined, *revision])
    else:
        print(f"mined: skipped, without --mirrors there are no repositories: {NEEDS['mined']}")
    if options.trees:
        _call([sys.executable, "benchmarks/judged.py", *map(str, options.trees), "--write"])
    else:
        print(f"judged: skipped, without --trees there are no repositories: {NEEDS['judged']}")
    for oracle in ("paired", "mutants", "mutations"):
        print(f"{oracle}: not run from here: {NEEDS[oracle]}")


def _call(command: Sequence[str]) -> None:
    """Runs a script of this folder; its own message says what went wrong."""
    print("$", *command[1:], flush=True)
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        print(f"it ended with exit code {code}; its stored figures stay", file=sys.stderr)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="renew first what can be run here")
    parser.add_argument("--before", metavar="REVISION", help="with --run: ask this revision as well")
    parser.add_argument(
        "--kept", action="store_true", help="with --run: with the kept entries, to tell the unseen figure"
    )
    parser.add_argument("--seed", type=int, help="with --run: of the generated programs (default: a new one)")
    parser.add_argument("--trees", type=Path, nargs="+", help="with --run: the repositories of judged.jsonl")
    parser.add_argument("--mirrors", type=Path, help="with --run: the fetched repositories of mined_cases.jsonl")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy.md")
    options = parser.parse_args()
    if options.run:
        run(options)
    lines = report(results())
    print("\n".join(lines))
    if options.write:
        text = page.with_section(PAGE.read_text(encoding="utf-8"), "oracles", lines)
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
