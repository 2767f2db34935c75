"""Whole programs in pairs, as people write them: does the linter find the one fault, and is it silent where there is none?

usage: python benchmarks/paired_programs.py take FOLDER [--python EXE]        judge new pairs by the machine and store those that hold
       python benchmarks/paired_programs.py score [NAME...] [--half seen|unseen] [--shown] [--repairs] [--python EXE] [--result now|before]

benchmarks/paired/ holds, by field, small programs of one to seven files that their authors wrote without any knowledge of the analysis: each runs on the CPU
and on a virtual GPU machine. `fault.diff` makes the one device fault that its author had in mind. `about.json` says how to start it, what is wrong, whether it
"raises" or is "silent", the story that the machine told of it (FILE:LINE of where tensors were made, moved and met), and the batch that it belongs to.

A fault is found where a finding that the right program does not have stands, or has a related place, within three lines of what the diff changes or of the story. A
finding of a rule that speaks of devices meeting, on a program that runs, is false. Half of the programs are *unseen*, by a hash of the name: nobody who works on the
analysis reads those (`--half unseen` prints no name). With `--repairs` all fixes are applied to both sides and run: a wrong one breaks what ran, or leaves the fault
next to which it stands. `--python` is an interpreter in which torch and the libraries that the programs import are installed; a program whose libraries are not there
is not run. FOLDER has FIELD/NAME/good, FIELD/NAME/bad and FIELD/NAME/about.json.
"""

from __future__ import annotations

import argparse
import collections
import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from differential.score import APART, DOES_NOTHING, NEAR, SPEAKS_OF_DEVICES
from oracles import Result, Row, result_of, write

import torchdevlint

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "benchmarks" / "paired"
_SECONDS = 120
_PLACE = re.compile(r"([^\s:,;()]+\.py):(\d+)")
_OURS = "torchdevlint: "
Places = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Program:
    """One pair as it is stored: the right program, and the diff that makes its fault."""

    folder: Path
    about: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.relative_to(PROGRAMS).as_posix()

    @property
    def half(self) -> str:
        """The side that a program is on for good."""
        return "unseen" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "seen"

    def copy(self, to: Path, *, bad: bool) -> Path:
        """The program as people would have it on their disk."""
        shutil.copytree(self.folder, to, ignore=shutil.ignore_patterns("fault.diff", "about.json", "__pycache__"))
        if bad:
            outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(to.parent)}  # of any repository
            subprocess.run(["git", "apply", str(self.folder / "fault.diff")], cwd=to, env=outside, check=True)
        return to

    @property
    def changed(self) -> Places:
        """The lines of the wrong program that the diff has changed, or between which it has taken some away."""
        return changed_by((self.folder / "fault.diff").read_text(encoding="utf-8"))

    @property
    def places(self) -> Places:
        """Where a finding may tell of the fault."""
        story = [place.rpartition(":") for place in self.about["story"]]
        return self.changed | {(path, int(row)) for path, _, row in story}


def stored(folder: Path = PROGRAMS) -> list[Program]:
    """All programs, by name."""
    found = sorted(folder.glob("*/*/about.json"))
    return [Program(path.parent, json.loads(path.read_text(encoding="utf-8"))) for path in found]


def changed_by(diff: str) -> Places:
    """The places of a unified diff, in the text that it makes."""
    found, path, row = set(), "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[4:].partition("\t")[0].partition("/")[2]
        elif line.startswith("@@"):
            row = int(line.split("+")[1].partition(",")[0].partition(" ")[0])
        elif line.startswith("-") and not line.startswith("---"):
            found.add((path, row))
        elif line.startswith("+"):
            found.add((path, row))
            row += 1
        else:
            row += 1
    return frozenset(found)


# ---------------------------------------------------------------------------------------------------------- the machine


@dataclass(frozen=True, slots=True)
class Run:
    """How a program ended."""

    code: int
    errors: str

    @property
    def is_of_devices(self) -> bool:
        """True where the machine says that a device fault ended it."""
        return self.code != 0 and _OURS in self.errors and any(_PLACE.search(line) for line in self._told())

    @property
    def lacks_library(self) -> bool:
        return "ModuleNotFoundError" in self.errors

    def _told(self) -> list[str]:
        return [line for line in self.errors.splitlines() if line.startswith(_OURS)]

    def story(self, root: Path) -> list[str]:
        """The places in the program that the machine tells of."""
        places = [place for line in self._told()[1:] for place in _PLACE.findall(line)]
        resolved = [((root / path).resolve(), row) for path, row in places]
        inside = [(path, row) for path, row in resolved if path.is_relative_to(root)]
        return sorted({f"{path.relative_to(root).as_posix()}:{row}" for path, row in inside})


def run(root: Path, about: dict[str, Any], python: str, *, machine: bool = True) -> Run:
    """Runs a program in its folder, on the virtual machine or on the CPU."""
    way = [python, "-m", "torchdevlint", "run"] if machine else [python]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    command = [*way, about["entry"], *about["args"]]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Run(124, "it did not end in time")
    return Run(done.returncode, done.stderr)


def take(folder: Path, batch: str, python: str) -> Iterator[str]:
    """Stores the pairs of a folder that do what they say; a sentence for each of the others."""
    for given in sorted(folder.glob("*/*/about.json")):
        source = given.parent
        name = source.relative_to(folder).as_posix()
        to = PROGRAMS / name
        try:
            told = json.loads(given.read_text(encoding="utf-8"))
            about = {key: told[key] for key in ("entry", "args", "fault", "kind")}
        except (ValueError, KeyError) as error:
            yield f"{name}: about.json: {error}"
            continue
        if to.exists():
            continue
        diff = "".join(_difference(source / "good", source / "bad"))
        problem = _problem(source, about, python) if diff else "both sides are the same"
        if isinstance(problem, str):
            yield f"{name}: {problem}"
            continue
        shutil.copytree(source / "good", to, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        (to / "fault.diff").write_text(diff, encoding="utf-8")
        about |= {"story": problem, "batch": batch}
        (to / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _problem(source: Path, about: dict[str, Any], python: str) -> str | list[str]:
    """What a pair does not do that it should; its story where it does all."""
    with tempfile.TemporaryDirectory() as place:
        sides = {}
        for side in ("good", "bad"):
            sides[side] = shutil.copytree(source / side, Path(place).resolve() / side)
        if run(sides["good"], about, python, machine=False).code:
            return "the right one fails on the CPU"
        if run(sides["good"], about, python).code:
            return "the right one fails on the machine"
        if run(sides["bad"], about, python, machine=False).code:
            return "the wrong one fails on the CPU"
        done = run(sides["bad"], about, python)
        if about["kind"] == "raises" and not done.code:
            return "the wrong one runs on the machine"
        if about["kind"] == "silent" and done.code:
            return "the wrong one is not silent"
        return done.story(sides["bad"])


def _difference(good: Path, bad: Path) -> Iterator[str]:
    paths = {path.relative_to(side) for side in (good, bad) for path in side.rglob("*") if path.is_file()}
    for path in sorted(path for path in paths if "__pycache__" not in path.parts):
        before, after = ((side / path).read_text("utf-8") if (side / path).exists() else "" for side in (good, bad))
        lines = [text.splitlines(keepends=True) for text in (before, after)]
        yield from difflib.unified_diff(*lines, f"a/{path.as_posix()}", f"b/{path.as_posix()}")


# ---------------------------------------------------------------------------------------------------------- the linter


@dataclass(frozen=True, slots=True)
class Said:
    """A finding: where it stands, the places that it tells of, and what it says without its numbers of lines."""

    code: str
    severity: str
    message: str
    place: tuple[str, int]
    places: Places

    @property
    def key(self) -> tuple[str, str, str]:
        return self.place[0], self.code, re.sub(r"\d+", "", self.message)

    @property
    def speaks_of_devices(self) -> bool:
        return bool(SPEAKS_OF_DEVICES.match(self.code)) and self.code not in APART and self.code != DOES_NOTHING


def told(root: Path) -> list[Said]:
    """All that the linter that is on the path of Python says of a program. Raises `RuntimeError` where it fails."""
    command = [sys.executable, "-m", "torchdevlint", "check", "--isolated", "--no-cache", "--level", "info", "-j", "1"]
    done = subprocess.run([*command, "--output-format", "json", "."], cwd=root, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"the linter fails in {root}: {done.stderr.strip()[-500:]}")
    return [_said(one, root) for one in json.loads(done.stdout)]


def _said(one: dict[str, Any], root: Path) -> Said:
    def place(where: dict[str, Any]) -> tuple[str, int]:
        path = Path(root, where["filename"]).resolve()
        return os.path.relpath(path, root.resolve()), where["location"]["row"]

    places = frozenset({place(one), *map(place, one["related"])})
    return Said(one["code"], one["severity"], one["message"], place(one), places)


def found(program: Program, before: Iterable[Said], after: Iterable[Said]) -> list[Said]:
    """The findings that tell of the fault."""
    left = collections.Counter(one.key for one in before)
    new = []
    for one in after:
        if left[one.key]:
            left[one.key] -= 1
        else:
            new.append(one)
    return [one for one in new if any(_is_near(place, program.places) for place in one.places)]


def _is_near(place: tuple[str, int], places: Places) -> bool:
    return any(path == place[0] and abs(row - place[1]) <= NEAR for path, row in places)


@dataclass(frozen=True, slots=True)
class Score:
    """What is said of both sides of a pair."""

    program: Program
    found: tuple[Said, ...]
    false: tuple[Said, ...]
    repairs: int = 0
    wrong: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """ "found" at the default level, "note" below it, or "missed"."""
        if any(one.severity != "info" for one in self.found):
            return "found"
        return "note" if self.found else "missed"


def scored(program: Program, python: str, *, repairs: bool) -> Score:
    """Both sides of a pair, looked at, and repaired."""
    with tempfile.TemporaryDirectory(prefix="paired-") as place:
        good = program.copy(Path(place).resolve() / "g" / "program", bad=False)
        bad = program.copy(Path(place).resolve() / "b" / "program", bad=True)
        before, after = told(good), told(bad)
        tells = found(program, before, after)
        false = [one for one in before if one.speaks_of_devices]
        number, wrong = 0, list[str]()
        for side in (good, bad) if repairs else ():
            for options in (["--fix"], ["--fix", "--unsafe-fixes"]):
                outcome = _repaired(side, program, options, python, is_bad=side is bad)
                number += outcome is not None
                wrong += [outcome] if outcome else []
        return Score(program, tuple(tells), tuple(false), number, tuple(wrong))


def _repaired(root: Path, program: Program, options: Sequence[str], python: str, *, is_bad: bool) -> str | None:
    """ "" where the fixes that were applied keep what ran, or mend what failed; None where there was none to apply; else what is wrong."""
    texts = {path: path.read_bytes() for path in root.rglob("*.py")}
    command = [sys.executable, "-m", "torchdevlint", "check", "--isolated", "--no-cache", "-q", *options, "."]
    subprocess.run(command, cwd=root, capture_output=True, check=False)
    if all(path.read_bytes() == text for path, text in texts.items()):
        return None
    try:
        plain, done = run(root, program.about, python, machine=False), run(root, program.about, python)
        if plain.lacks_library:
            return None
        if plain.code or (done.code and not (is_bad and done.is_of_devices)):
            return f"{' '.join(options)} breaks it: {(plain.errors or done.errors).strip().splitlines()[-1]}"
        near = [place for place in _edited(root, texts) if _is_near(place, program.places)]
        return f"{' '.join(options)} leaves the fault" if is_bad and near and done.code else ""
    finally:
        for path, text in texts.items():
            path.write_bytes(text)


def _edited(root: Path, texts: dict[Path, bytes]) -> list[tuple[str, int]]:
    rows = []
    for path, text in texts.items():
        lines = [raw.decode("utf-8", "replace").splitlines() for raw in (text, path.read_bytes())]
        for tag, first, last, _, _ in difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
            if tag != "equal":
                rows += [(path.relative_to(root).as_posix(), row + 1) for row in range(first, max(last, first + 1))]
    return rows


def row_of(half: str, batch: str, scores: Sequence[Score]) -> Row:
    """A line of the table of oracles."""
    false = [one for score in scores for one in score.false]
    levels = collections.Counter(score.level for score in scores)
    families: dict[str, list[int]] = {}
    for score in scores:
        for family in (score.program.name.partition("/")[0], score.program.about["kind"]):
            counts = families.setdefault(family, [0, 0, 0])
            counts[0] += 1
            counts[1] += score.level == "found"
            counts[2] += score.level != "missed"
    return Row(
        batch,
        half,
        "programs",
        len(scores),
        levels["found"],
        levels["found"] + levels["note"],
        len(scores),
        sum(one.severity != "info" for one in false),
        sum(one.severity == "error" for one in false),
        sum(one.severity == "info" for one in false),
        sum(score.repairs for score in scores) or None,
        sum(len(score.wrong) for score in scores) if any(score.repairs for score in scores) else None,
        families={family: tuple(counts) for family, counts in sorted(families.items())},
    )


def _shown(score: Score) -> Iterator[str]:
    if score.level != "found":
        yield f"{score.level}: {score.program.name}: {score.program.about['fault']} {sorted(score.program.places)}"
    for one in score.false:
        yield f"false {one.severity}: {score.program.name}/{one.place[0]}:{one.place[1]}: {one.code} {one.message}"
    for wrong in score.wrong:
        yield f"wrong repair: {score.program.name}: {wrong}"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(dest="way", required=True)
    taking = ways.add_parser("take")
    taking.add_argument("folder", type=Path)
    taking.add_argument("--batch", default="first")
    scoring = ways.add_parser("score")
    scoring.add_argument("names", nargs="*", metavar="NAME", help="FIELD or FIELD/NAME (default: all)")
    scoring.add_argument("--half", choices=("seen", "unseen"))
    scoring.add_argument("--shown", action="store_true", help="name what is missed and false on the seen half")
    scoring.add_argument("--repairs", action="store_true", help="apply all fixes and run what they make")
    scoring.add_argument("--result", choices=("now", "before"), help="store the figures for docs/accuracy.md")
    for one in (taking, scoring):
        one.add_argument("--python", default=sys.executable, metavar="EXE", help="where the programs can run")
    options = parser.parse_args()
    if options.way == "take":
        for problem in take(options.folder, options.batch, options.python):
            print(problem, flush=True)
        return 0
    programs = [
        one
        for one in stored()
        if options.half in (None, one.half)
        and (not options.names or any(one.name == name or one.name.startswith(f"{name}/") for name in options.names))
    ]
    if not programs:
        print("no program has such a name; the fields and names are the folders of benchmarks/paired", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        scores = list(pool.map(lambda one: scored(one, options.python, repairs=options.repairs), programs))
    rows = []
    for half in ("seen", "unseen"):
        for batch in sorted({one.about["batch"] for one in programs}):
            several = [one for one in scores if (one.program.half, one.program.about["batch"]) == (half, batch)]
            if several:
                rows.append(row_of(half, batch, several))
    for score in scores if options.shown else ():
        for line in _shown(score) if score.program.half == "seen" else ():
            print(line)
    for row in rows:
        print(row)
    if options.result:
        command = f"`python benchmarks/paired_programs.py score{' --repairs' if options.repairs else ''}`"
        about = (
            "Whole programs in pairs, written by authors who knew nothing of the analysis, and judged by the machine."
        )
        checkout = Path(torchdevlint.__file__).resolve().parents[1]  # of the linter that is on the path
        result: Result = result_of("paired", options.result, command, about, rows, checkout)
        print(write(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
