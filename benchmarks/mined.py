"""Repairs that people made, mined from histories and read by nobody: what share of them does the linter see before the repair?

usage: python benchmarks/mined.py mine MIRRORS [--most N] [--seconds N]      renew mined_cases.jsonl from fetched repositories
       python benchmarks/mined.py score MIRRORS [--half seen|unseen] [--cases N] [--alone | --projects N] [--seconds N] [--revision REV] [--floor]
                                                [--journal FILE] [--write]

MIRRORS is a folder of git directories named OWNER+NAME. mined_cases.jsonl holds references alone (repository, commit, path, lines). Each repository
is on one side for good: "seen" where somebody here has read its code, else by a hash of its name. A case is scored twice: the file by itself, and in the
whole tree of the parent commit. It counts as found where a finding with a code of its family, or a related place of one, is within three lines of
what the repair changed; "resolved" where that finding is gone from the repaired file. "Stray" counts the findings of the repaired files that stand
elsewhere, for 1,000 lines. The linter runs once for both levels. A case whose repository is not there is skipped and counted, and so is one whose tree takes
more CPU time than --seconds. With --journal what the linter said is kept in a file, and the same command goes on where it was ended.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import NamedTuple

import page
from accuracy import ROOT, checked_out
from mining import Case, contents, git, git_dir, mine
from oracles import revision_of

CASES = ROOT / "benchmarks" / "mined_cases.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "mined.json"
NEAR = 3
ALL_LEVELS = ("--level", "info", "--extend-select", "TDL")  # the default level is a part of what this tells
LEVELS = ("default", "notes")
CONTEXT = (
    "*.py",
    "*.toml",
    "*.cfg",
    "*.txt",
    "*.md",
    "*.rst",
    "*.ipynb",
    "*.yaml",
    "*.yml",
    "*.sh",
)  # what the project index asks

EXPECTED: Mapping[str, tuple[str, ...]] = {  # by family: the codes that name the fault
    "load-no-map-location": ("TDL101", "TDL102", "TDL104", "TDL106", "TDL107", "TDL108", "TDL111"),
    "buffer-not-registered": ("TDL603", "TDL604", "TDL504", "TDL505", "TDL303", "TDL608", "TDL606"),
    "submodule-in-plain-list": ("TDL602", "TDL603"),
    "creation": (
        "TDL302",
        "TDL401",
        "TDL503",
        "TDL504",
        "TDL505",
        "TDL506",
        "TDL515",
        "TDL516",
        "TDL517",
        "TDL522",
        "TDL603",
    ),
    "numpy-on-gpu": ("TDL509", "TDL510"),
    "hardcoded-cuda": ("TDL102", "TDL405", "TDL511", "TDL521", "TDL605", "TDL609", "TDL801", "TDL805", "TDL807"),
    "new-tensor-type-legacy": ("TDL504", "TDL511", "TDL516", "TDL521"),
    "not-moved": ("TDL2", "TDL3", "TDL4", "TDL5", "TDL6", "TDL7"),
}
FLOOR = {  # what the patterns of `floor` count for
    "FLOOR-load": "load-no-map-location",
    "FLOOR-create": "creation",
    "FLOOR-cuda": "hardcoded-cuda",
    "FLOOR-numpy": "numpy-on-gpu",
}

BATCH = 40  # cases whose files one run of the linter reads
SECONDS = 60  # of CPU time for the files of one tree


class Told(NamedTuple):
    """A finding: its code, the lines it speaks of, and whether the default level and selection show it."""

    code: str
    rows: tuple[int, ...]
    default: bool


class OutOfTime(Exception):
    """The linter took more CPU time than it was given."""


def read_cases(path: Path = CASES) -> list[Case]:
    """The reference list."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Case(**{name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()})
        for entry in entries
    ]


def repositories_read() -> frozenset[str]:
    """The repositories whose code somebody here has read: every judged one."""
    judged = ROOT / "benchmarks" / "judged.jsonl"
    return frozenset(json.loads(line)["repository"] for line in judged.read_text(encoding="utf-8").splitlines())


def drawn(cases: Sequence[Case], most: int | None) -> list[Case]:
    """At most so many cases, by a hash of their names: more of them hold the fewer ones."""
    return sorted(cases, key=lambda case: hashlib.sha1(case.id.encode()).digest())[:most]


def half_of(repo: str, read: frozenset[str]) -> str:
    """The side of a repository, which never changes unless somebody reads it."""
    return "seen" if repo in read or hashlib.sha1(repo.encode()).digest()[0] % 2 else "unseen"


# ------------------------------------------------------------------------------------------------------ running


def near(told: Iterable[Told], lines: Sequence[int]) -> set[str]:
    """The codes that are told within `NEAR` lines of one of `lines`."""
    return {one.code for one in told if any(abs(row - line) <= NEAR for row in one.rows for line in lines)}


def at_level(told: Iterable[Told], level: str) -> list[Told]:
    """What a run at one of `LEVELS` would tell, of what the run with notes told."""
    return [one for one in told if one.default or level == "notes"]


def rows_of(finding: Mapping[str, object]) -> tuple[int, ...]:
    """The lines of a finding's file that it speaks of."""
    location, end = finding["location"], finding.get("end_location") or finding["location"]
    rows = list(range(location["row"], end["row"] + 1))[:40]  # type: ignore[index]
    for place in finding.get("related") or ():  # type: ignore[attr-defined]
        if place["filename"] == finding["filename"]:
            rows.append(place["location"]["row"])
    return tuple(rows)


@cache
def on_by_default(package: Path) -> frozenset[str]:
    """The codes that the linter of `package` runs without being asked."""
    rules = json.loads(_linter(package, ["rule", "--output-format", "json"]).stdout)
    return frozenset(rule["code"] for rule in rules if rule["default"])


def check(
    paths: Sequence[Path], options: Sequence[str], package: Path, seconds: int | None = None
) -> dict[str, list[Told]]:
    """What the linter of `package` says of files at every level, by absolute path; a run that fails says so on stderr and counts as silent.

    Raises OutOfTime where the linter takes more than `seconds` of CPU time for 300 files.
    """
    told: dict[str, list[Told]] = defaultdict(list)
    command = ["check", "--output-format", "json", "--exit-zero", "--no-cache", *ALL_LEVELS, *options]
    for at in range(0, len(paths), 300):
        done = _linter(package, [*command, *map(str, paths[at : at + 300])], seconds)
        try:
            findings = json.loads(done.stdout)
        except ValueError:
            if done.returncode < 0 and seconds is not None:  # ended by a signal
                raise OutOfTime(f"more than {seconds} s of CPU time") from None
            print(f"the linter printed no JSON: {done.stderr[:300]}", file=sys.stderr)
            continue
        for finding in findings:
            default = finding["severity"] != "info" and finding["code"] in on_by_default(package)
            told[finding["filename"]].append(Told(finding["code"], rows_of(finding), default))
    return told


def _linter(package: Path, arguments: Sequence[str], seconds: int | None = None) -> subprocess.CompletedProcess[str]:
    """A run of the linter of `package`, ended by the system after so many seconds of CPU time."""
    return subprocess.run(
        [sys.executable, "-m", "torchdevlint", *arguments],
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=None if seconds is None else _limit(seconds),
    )


def _limit(seconds: int) -> Callable[[], None]:
    """What holds the process that calls it to so many seconds of CPU time."""
    import resource  # not on Windows, where the trees cannot be held to a time

    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))


class Journal:
    """What a revision of the linter said of each case so far, in a file of JSON lines; without a file nothing is kept.

    An empty entry is a case that was skipped. Raises ValueError for a file of another revision or form.
    """

    FORM = 2

    def __init__(self, path: Path | None = None, revision: str = "") -> None:
        self._path = path
        self._told: dict[str, dict[str, list[Told]]] = {}
        if path is None:
            return
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = text[: text.rfind("\n") + 1].splitlines()
        if not text.endswith("\n"):  # new, or the run was killed while it wrote a line
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        head = json.loads(lines[0]) if lines else {"revision": revision, "form": self.FORM}
        if head["revision"] != revision:
            raise ValueError(
                f"{path} was begun with revision {head['revision']} of the linter, and this is {revision}: name another file"
            )
        if head.get("form") != self.FORM:
            raise ValueError(f"{path} was begun by another version of this script: name another file")
        if not lines:
            self._append(head)
        for line in lines[1:]:
            entry = json.loads(line)
            self._told[entry["key"]] = {
                side: [Told(code, tuple(rows), default) for code, rows, default in told]
                for side, told in entry["told"].items()
            }

    def __contains__(self, key: str) -> bool:
        return key in self._told

    def __getitem__(self, key: str) -> dict[str, list[Told]]:
        return self._told[key]

    def __setitem__(self, key: str, told: dict[str, list[Told]]) -> None:
        self._told[key] = told
        if self._path is not None:
            self._append({"key": key, "told": told})

    def _append(self, entry: Mapping[str, object]) -> None:
        assert self._path is not None
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


class Sides:
    """The files of the cases, written below a folder: `<id>/before.py`, `<id>/after.py`, and whole trees of parent commits."""

    def __init__(self, mirrors: Path, folder: Path) -> None:
        self._mirrors, self._folder = mirrors, folder

    def write(self, cases: Iterable[Case]) -> list[Case]:
        """The cases of which both sides are there and parse."""
        return [
            case
            for case in cases
            if self._side(case, case.parent_commit, "before") and self._side(case, case.fix_commit, "after")
        ]

    def path(self, case: Case, side: str) -> Path:
        return self._folder / "alone" / case.id / f"{side}.py"

    def _side(self, case: Case, commit: str, side: str) -> bool:
        folder = git_dir(self._mirrors, case.repo)
        text = git(folder, "show", f"{commit}:{case.path}") if folder else b""
        try:
            compile(text, case.path, "exec", dont_inherit=True, flags=0x400)  # ast.PyCF_ONLY_AST: parsed, never run
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        path = self.path(case, side)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        return bool(text)

    def tree(self, repo: str, commit: str) -> Path | None:
        """The text files of a whole commit, as its user has them."""
        folder = git_dir(self._mirrors, repo)
        if folder is None:
            return None
        into = self._folder / "trees" / f"{repo.replace('/', '+')}@{commit[:12]}"
        names = git(folder, "ls-tree", "-r", "--name-only", "-z", commit).decode("utf-8", "replace").split("\0")
        wanted = [name for name in names if name.endswith(tuple(pattern[1:] for pattern in CONTEXT))]
        if not wanted or len(wanted) > 4000:
            return None
        (into / ".git").mkdir(parents=True, exist_ok=True)  # a repository's root
        for name, content in contents(folder, commit, wanted):
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return into


# ------------------------------------------------------------------------------------------------------ scoring


@dataclasses.dataclass(slots=True)
class Score:
    """Counts of one way to run; `lines` and `stray` are of the repaired files, `skipped` are cases beside the others."""

    cases: int = 0
    skipped: int = 0
    right: int = 0
    resolved: int = 0
    stray: int = 0
    lines: int = 0
    families: dict[str, list[int]] = dataclasses.field(default_factory=dict)  # cases, right

    def add(self, case: Case, right: bool, resolved: bool) -> None:
        self.cases += 1
        self.right += right
        self.resolved += resolved
        row = self.families.setdefault(case.category, [0, 0])
        row[0] += 1
        row[1] += right


def right_codes(case: Case, told: Iterable[Told], lines: Sequence[int]) -> set[str]:
    """The codes near a repair that name its family."""
    return {code for code in near(told, lines) if code.startswith(EXPECTED[case.category])}


def score_alone(cases: Sequence[Case], sides: Sides, package: Path, journal: Journal | None = None) -> dict[str, Score]:
    """Each file by itself, before and after its repair, by level."""
    kept = Journal() if journal is None else journal
    waiting = [case for case in cases if f"alone {case.id}" not in kept]
    for at in range(0, len(waiting), BATCH):
        some = waiting[at : at + BATCH]
        paths = [sides.path(case, side) for case in some for side in ("before", "after")]
        told = check(paths, ["--isolated"], package)
        for case in some:
            its = {side: told.get(str(sides.path(case, side)), []) for side in ("before", "after")}
            kept[f"alone {case.id}"] = its
    scores = {level: Score() for level in LEVELS}
    for case in cases:
        lines = sides.path(case, "after").read_bytes().count(b"\n")
        for level, score in scores.items():
            before, after = (at_level(kept[f"alone {case.id}"][side], level) for side in ("before", "after"))
            right = right_codes(case, before, case.before_lines)
            score.add(case, bool(right), bool(right - near(after, case.after_lines)))
            score.stray += sum(not near([one], case.after_lines) for one in after)
            score.lines += lines
    return scores


def score_inside(
    cases: Sequence[Case], sides: Sides, package: Path, journal: Journal | None = None, seconds: int = SECONDS
) -> dict[str, Score]:
    """Each file in the whole tree of the parent commit, by level. A tree that is not at hand or takes more than `seconds` of CPU time is skipped."""
    kept = Journal() if journal is None else journal
    groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        if f"inside {case.id}" not in kept:
            groups[case.repo, case.parent_commit].append(case)
    for (repo, commit), waiting in groups.items():
        tree = sides.tree(repo, commit)
        if tree is None:
            continue
        try:
            told = check(
                sorted({tree / case.path for case in waiting}), ["--force-exclude", "--jobs", "1"], package, seconds
            )
            its = {case.id: {"before": told.get(str(tree / case.path), [])} for case in waiting}
        except OutOfTime as error:
            print(f"{repo} at {commit[:12]}: {error}, skipped", file=sys.stderr, flush=True)
            its = {}
        for case in waiting:
            kept[f"inside {case.id}"] = its.get(case.id, {})
        subprocess.run(["rm", "-rf", str(tree)], check=False)
    scores = {level: Score() for level in LEVELS}
    for case in cases:
        key = f"inside {case.id}"
        told_before = kept[key].get("before") if key in kept else None
        for level, score in scores.items():
            if told_before is None:
                score.skipped += 1
                continue
            right = right_codes(case, at_level(told_before, level), case.before_lines)
            score.add(case, bool(right), bool(right))
    return scores


def score_floor(cases: Sequence[Case], sides: Sides) -> Score:
    """Four patterns without context, as anybody writes them in forty lines: what a linter has to beat, mostly in silence."""
    import floor

    score = Score()
    for case in cases:
        before, after = (
            [Told(*found, True) for found in floor.findings(sides.path(case, side).read_bytes())]
            for side in ("before", "after")
        )
        right = {code for code in near(before, case.before_lines) if FLOOR[code] == case.category}
        score.add(case, bool(right), bool(right - near(after, case.after_lines)))
        score.stray += sum(not near([one], case.after_lines) for one in after)
        score.lines += sides.path(case, "after").read_bytes().count(b"\n")
    return score


# ------------------------------------------------------------------------------------------------------ commands


def command_mine(arguments: argparse.Namespace) -> None:
    """Mines every repository of a folder."""
    cases: dict[str, Case] = {}
    repositories = sorted(path.name.replace("+", "/", 1) for path in arguments.mirrors.iterdir() if "+" in path.name)
    for number, repo in enumerate(repositories, 1):
        folder = git_dir(arguments.mirrors, repo)
        found = list(mine(repo, folder, arguments.most, arguments.seconds)) if folder else []
        cases.update((case.id, case) for case in found)
        print(f"{number}/{len(repositories)} {repo}: {len(found)}", file=sys.stderr, flush=True)
    if not repositories:
        print(f"no git directory named OWNER+NAME is in {arguments.mirrors}: mined_cases.jsonl stays as it is")
        return
    lines = [json.dumps(dataclasses.asdict(case)) for case in sorted(cases.values(), key=lambda case: case.id)]
    CASES.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    read = repositories_read()
    halves = Counter(half_of(case.repo, read) for case in cases.values())
    print(
        f"{len(cases)} cases of {len({case.repo for case in cases.values()})} repositories, {len(repositories)} mined: {dict(halves)}"
    )


def command_score(arguments: argparse.Namespace) -> None:
    """Scores a revision on one half or on both."""
    read = repositories_read()
    cases = [case for case in read_cases() if arguments.half in (None, half_of(case.repo, read))]
    results: dict[str, dict[str, object]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        checked_out(arguments.revision) if arguments.revision else nullcontext(ROOT) as package,
    ):
        revision = revision_of(package)
        try:
            journal = Journal(arguments.journal, revision)
        except ValueError as error:
            sys.exit(str(error))
        sides = Sides(arguments.mirrors, Path(folder))
        there = sides.write(cases)
        print(f"{len(there)} of {len(cases)} cases are at hand and parse", file=sys.stderr)
        if not there:
            print(f"none of the repositories of mined_cases.jsonl is in {arguments.mirrors}: nothing is scored")
            return
        for half in ("seen", "unseen"):
            chosen = drawn([case for case in there if half_of(case.repo, read) == half], arguments.cases)
            if not chosen:
                continue
            alone = score_alone(chosen, sides, package, journal)
            runs = {f"alone, {level}": score for level, score in alone.items()}
            if not arguments.alone:
                some = drawn(chosen, arguments.projects)
                inside = score_inside(some, sides, package, journal, arguments.seconds)
                runs |= {f"in its project, {level}": score for level, score in inside.items()}
            if arguments.floor:
                runs["patterns alone"] = score_floor(chosen, sides)
            results[half] = {name: dataclasses.asdict(score) for name, score in runs.items()}
            print("\n".join(report(half, runs)), flush=True)
    if arguments.write:
        stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        before = stored.get(arguments.revision or "now", {})
        is_same = before.get("revision") == revision  # then the other half may be of an earlier run
        now = {"date": page.today(), "revision": revision}
        for name, its in ("halves", results), ("commands", dict.fromkeys(results, command_of(arguments))):
            now[name] = {**(before.get(name, {}) if is_same else {}), **its}
        stored[arguments.revision or "now"] = now
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def command_of(arguments: argparse.Namespace) -> str:
    """How these figures are had again."""
    options = [f"--half {arguments.half}"] if arguments.half else []
    options += [
        f"--{name} {value}" for name in ("cases", "projects") if (value := getattr(arguments, name)) is not None
    ]
    options += [f"--{name}" for name in ("alone", "floor") if getattr(arguments, name)]
    options += [f"--seconds {arguments.seconds}"] if arguments.seconds != SECONDS else []
    options += [f"--revision {arguments.revision}"] if arguments.revision else []
    return " ".join(["python benchmarks/mined.py score MIRRORS", *options])


def report(half: str, runs: Mapping[str, Score]) -> list[str]:
    """A table of one half."""
    families = sorted({family for score in runs.values() for family in score.families})
    head = [half, "cases", "skipped", "right", "resolved", "stray / 1,000 lines", *families]
    rows = []
    for name, score in runs.items():
        stray = f"{1000 * score.stray / score.lines:.2f}" if score.lines else "-"
        shares = [share(*reversed(score.families.get(family, [0, 0]))) for family in families]
        rows.append(
            [
                name,
                score.cases,
                score.skipped,
                share(score.right, score.cases),
                share(score.resolved, score.cases),
                stray,
                *shares,
            ]
        )
    return ["", *page.table(head, rows)]


def share(part: int, whole: int) -> str:
    """A percentage, or a dash."""
    return f"{100 * part / whole:.0f}%" if whole else "-"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    miner = verbs.add_parser("mine")
    miner.add_argument("mirrors", type=Path)
    miner.add_argument("--most", type=int, default=25, help="cases of one repository (default 25)")
    miner.add_argument("--seconds", type=float, default=90, help="for one repository (default 90)")
    miner.set_defaults(run=command_mine)
    scorer = verbs.add_parser("score")
    scorer.add_argument("mirrors", type=Path)
    scorer.add_argument("--half", choices=("seen", "unseen"))
    scorer.add_argument("--revision", help="another revision of this repository, checked out aside")
    scorer.add_argument("--cases", type=int, metavar="N", help="at most N cases of each half, drawn by hash")
    scorer.add_argument("--alone", action="store_true", help="leave out the runs inside the projects")
    scorer.add_argument(
        "--projects", type=int, metavar="N", help="at most N cases of each half in their projects, drawn by hash"
    )
    scorer.add_argument(
        "--seconds",
        type=int,
        default=SECONDS,
        metavar="N",
        help=f"CPU time for the files of one tree, which is skipped when it takes more (default {SECONDS})",
    )
    scorer.add_argument("--floor", action="store_true", help="score the patterns of floor.py as well")
    scorer.add_argument(
        "--journal", type=Path, metavar="FILE", help="keep what the linter said in FILE, and go on where it ends"
    )
    scorer.add_argument("--write", action="store_true", help="keep the figures in results/mined.json")
    scorer.set_defaults(run=command_score)
    arguments = parser.parse_args()
    if not arguments.mirrors.is_dir():
        parser.error(f"{arguments.mirrors} is no folder: it must hold git directories named OWNER+NAME")
    arguments.run(arguments)


if __name__ == "__main__":
    main()
