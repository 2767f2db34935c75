"""Repairs that people made, mined from histories and read by nobody: what share of them does the linter see before the repair?

usage: python benchmarks/mined.py mine MIRRORS [--most N] [--seconds N]      renew mined_cases.jsonl from fetched repositories
       python benchmarks/mined.py score MIRRORS [--half seen|unseen] [--cases N] [--projects N] [--revision REV] [--floor] [--journal FILE] [--write]

MIRRORS is a folder of git directories named OWNER+NAME. mined_cases.jsonl holds references alone (repository, commit, path, lines). Each repository
is on one side for good: "seen" where somebody here has read its code, else by a hash of its name. A case is scored twice: the file by itself, and in the
whole tree of the parent commit. It counts as found where a finding with a code of its family, or a related place of one, is within three lines of
what the repair changed; "resolved" where that finding is gone from the repaired file. "Stray" counts the findings of the repaired files that stand
elsewhere, for 1,000 lines. A case whose repository is not there is skipped and counted. All cases inside their projects take about an hour: with --journal
what the linter said is kept in a file, and the same command goes on where it was ended.
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
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import page
from accuracy import ROOT, checked_out
from mining import Case, contents, git, git_dir, mine
from oracles import revision_of

CASES = ROOT / "benchmarks" / "mined_cases.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "mined.json"
NEAR = 3
LEVELS = {"default": [], "notes": ["--level", "info", "--extend-select", "TDL"]}
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

Told = tuple[str, tuple[int, ...]]  # a code, and the lines it speaks of
BATCH = 40  # cases whose files one run of the linter reads


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
    return {code for code, rows in told if any(abs(row - line) <= NEAR for row in rows for line in lines)}


def rows_of(finding: Mapping[str, object]) -> tuple[int, ...]:
    """The lines of a finding's file that it speaks of."""
    location, end = finding["location"], finding.get("end_location") or finding["location"]
    rows = list(range(location["row"], end["row"] + 1))[:40]  # type: ignore[index]
    for place in finding.get("related") or ():  # type: ignore[attr-defined]
        if place["filename"] == finding["filename"]:
            rows.append(place["location"]["row"])
    return tuple(rows)


def check(paths: Sequence[Path], options: Sequence[str], package: Path) -> dict[str, list[Told]]:
    """What the linter of `package` says of files, by absolute path; a run that fails says so on stderr and counts as silent."""
    told: dict[str, list[Told]] = defaultdict(list)
    command = [
        sys.executable,
        "-m",
        "torchdevlint",
        "check",
        "--output-format",
        "json",
        "--exit-zero",
        "--no-cache",
        *options,
    ]
    for at in range(0, len(paths), 300):
        done = subprocess.run(
            [*command, *map(str, paths[at : at + 300])],
            cwd=package,
            env={**os.environ, "PYTHONPATH": str(package)},
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            findings = json.loads(done.stdout)
        except ValueError:
            print(f"the linter printed no JSON: {done.stderr[:300]}", file=sys.stderr)
            continue
        for finding in findings:
            told[finding["filename"]].append((finding["code"], rows_of(finding)))
    return told


class Journal:
    """What a revision of the linter said of each case so far, in a file of JSON lines; without a file nothing is kept.

    Raises ValueError for a file of another revision.
    """

    def __init__(self, path: Path | None = None, revision: str = "") -> None:
        self._path = path
        self._told: dict[str, dict[str, list[Told]]] = {}
        if path is None:
            return
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        lines = text[: text.rfind("\n") + 1].splitlines()
        if not text.endswith("\n"):  # new, or the run was killed while it wrote a line
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        begun = json.loads(lines[0])["revision"] if lines else revision
        if begun != revision:
            raise ValueError(
                f"{path} was begun with revision {begun} of the linter, and this is {revision}: name another file"
            )
        if not lines:
            self._append({"revision": revision})
        for line in lines[1:]:
            entry = json.loads(line)
            self._told[entry["key"]] = {
                side: [(code, tuple(rows)) for code, rows in told] for side, told in entry["told"].items()
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
    """Counts of one way to run; `lines` and `stray` are of the repaired files."""

    cases: int = 0
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


def score_alone(
    cases: Sequence[Case], sides: Sides, options: Sequence[str], package: Path, journal: Journal | None = None
) -> Score:
    """Each file by itself, before and after its repair."""
    kept = Journal() if journal is None else journal
    keys = {case.id: " ".join(["alone", case.id, *options]) for case in cases}
    waiting = [case for case in cases if keys[case.id] not in kept]
    for at in range(0, len(waiting), BATCH):
        some = waiting[at : at + BATCH]
        paths = [sides.path(case, side) for case in some for side in ("before", "after")]
        told = check(paths, ["--isolated", *options], package)
        for case in some:
            kept[keys[case.id]] = {side: told.get(str(sides.path(case, side)), []) for side in ("before", "after")}
    score = Score()
    for case in cases:
        before, after = kept[keys[case.id]]["before"], kept[keys[case.id]]["after"]
        right = right_codes(case, before, case.before_lines)
        score.add(case, bool(right), bool(right - near(after, case.after_lines)))
        score.stray += sum(not near([one], case.after_lines) for one in after)
        score.lines += sides.path(case, "after").read_bytes().count(b"\n")
    return score


def score_inside(
    cases: Sequence[Case], sides: Sides, package: Path, journal: Journal | None = None
) -> dict[str, Score]:
    """Each file in the whole tree of the parent commit, by level. A case whose tree is not at hand is left out."""
    kept = Journal() if journal is None else journal
    groups: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.repo, case.parent_commit].append(case)
    for (repo, commit), members in groups.items():
        waiting = [case for case in members if f"inside {case.id}" not in kept]
        tree = sides.tree(repo, commit) if waiting else None
        if tree is None:
            continue
        paths = sorted({tree / case.path for case in waiting})
        levels = {level: check(paths, ["--force-exclude", *options], package) for level, options in LEVELS.items()}
        for case in waiting:
            kept[f"inside {case.id}"] = {level: told.get(str(tree / case.path), []) for level, told in levels.items()}
        subprocess.run(["rm", "-rf", str(tree)], check=False)
    scores = {level: Score() for level in LEVELS}
    for case in cases:
        if f"inside {case.id}" not in kept:
            continue
        for level, score in scores.items():
            right = right_codes(case, kept[f"inside {case.id}"][level], case.before_lines)
            score.add(case, bool(right), bool(right))
    return scores


def score_floor(cases: Sequence[Case], sides: Sides) -> Score:
    """Four patterns without context, as anybody writes them in forty lines: what a linter has to beat, mostly in silence."""
    import floor

    score = Score()
    for case in cases:
        before, after = (floor.findings(sides.path(case, side).read_bytes()) for side in ("before", "after"))
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
            runs = {
                f"alone, {level}": score_alone(chosen, sides, options, package, journal)
                for level, options in LEVELS.items()
            }
            if not arguments.alone:
                some = drawn(chosen, arguments.projects)
                runs |= {
                    f"in its project, {level}": score
                    for level, score in score_inside(some, sides, package, journal).items()
                }
            if arguments.floor:
                runs["patterns alone"] = score_floor(chosen, sides)
            results[half] = {name: dataclasses.asdict(score) for name, score in runs.items()}
            print("\n".join(report(half, runs)), flush=True)
    if arguments.write:
        stored = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        before = stored.get(arguments.revision or "now", {})
        kept = before["halves"] if before.get("revision") == revision else {}  # the other half, of an earlier run
        now = {"date": page.today(), "revision": revision, "halves": {**kept, **results}}
        stored[arguments.revision or "now"] = now
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def report(half: str, runs: Mapping[str, Score]) -> list[str]:
    """A table of one half."""
    families = sorted({family for score in runs.values() for family in score.families})
    head = [half, "cases", "right", "resolved", "stray / 1,000 lines", *families]
    rows = []
    for name, score in runs.items():
        stray = f"{1000 * score.stray / score.lines:.2f}" if score.lines else "-"
        shares = [share(*reversed(score.families.get(family, [0, 0]))) for family in families]
        rows.append(
            [name, score.cases, share(score.right, score.cases), share(score.resolved, score.cases), stray, *shares]
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
