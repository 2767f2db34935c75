"""Accuracy on real repairs, before and after: what a change bought in recall by family and cost in noise by rule.

usage: python benchmarks/accuracy.py SCORER CASES [--before REVISION] [--floor SCRIPT] [--trees FOLDER] [--missed FILE] [--write]

SCORER is the corpus's own script (it materialises the cases, runs a tool over them and prints a table), CASES the folder it materialised them in.
Each column is a run of the same cases: a pattern-only floor, this repository at REVISION (checked out aside), and the working tree. With --trees, the
findings of each rule over a folder of real repositories are counted as well. FILE (default: benchmarks/missed.jsonl) says why a case is still missed, a line
{"id", "cause"} each; a missed case without a line is listed as "not looked into".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import page

ROOT = Path(__file__).resolve().parents[1]
MISSED = ROOT / "benchmarks" / "missed.jsonl"
CHECK = f"{sys.executable} -m torchdevlint check --output-format json --exit-zero --no-cache"

_ROW = re.compile(r"(.+?)\s+(\d+)\s+([\d.]+)%\s+([\d.]+)%\s+([\d.]+)%\Z")
_MISS = re.compile(r"(missed|wrong code|unresolved)\s+(\S+) (\S+) (\S+) \[[^\]]*\]: (.*)\Z")
_STRAY = re.compile(r"stray: .* ([\d.]+) per 1,000 lines\Z")
_CLEAN = re.compile(r"clean: .* (\d+) lines, (\d+) findings, ([\d.]+) per 1,000 lines: (\{.*\})\Z")


@dataclass(slots=True)
class Family:
    """One row of the scorer's table, in percent."""

    cases: int
    right: float
    resolved: float


@dataclass(slots=True)
class Run:
    """What the scorer said of one tool."""

    families: dict[str, Family] = field(default_factory=dict)
    stray: float = 0.0  # findings per 1,000 lines of repaired files, away from the repair
    noise: float = 0.0  # findings per 1,000 lines of clean files
    clean_lines: int = 0
    noise_by_rule: dict[str, int] = field(default_factory=dict)
    misses: list[tuple[str, str, str, str]] = field(default_factory=list)  # id, category, decidable, sentence
    tree_findings: Counter[str] = field(default_factory=Counter)


def parsed(text: str) -> Run:
    """The scorer's report as data; raises `ValueError` when the text is none."""
    run = Run()
    for line in text.splitlines():
        if match := _MISS.match(line):
            run.misses.append((match[2], match[3], match[4], match[5]))
        elif match := _ROW.match(line):
            run.families[match[1].strip()] = Family(int(match[2]), float(match[4]), float(match[5]))
        elif match := _STRAY.match(line):
            run.stray = float(match[1])
        elif match := _CLEAN.match(line):
            run.clean_lines, run.noise = int(match[1]), float(match[3])
            run.noise_by_rule = json.loads(match[4].replace("'", '"'))
    if "all" not in run.families:
        raise ValueError("the scorer printed no table")
    return run


def measured(scorer: Path, cases: Path, tool: str, package: Path | None, any_code: bool = False) -> Run:
    """Scores one tool; `package` is the tree that `torchdevlint` is imported from."""
    command = [
        sys.executable,
        str(scorer.resolve()),
        "score",
        "--out",
        str(cases.resolve()),
        "--misses",
        "--tool",
        tool,
    ]
    if any_code:
        command.append("--any-code")
    # `python -m` looks into the working folder first.
    done = subprocess.run(command, cwd=package, env=_environment(package), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the scorer failed:\n{done.stderr}")
    return parsed(done.stdout)


def count_findings(folder: Path, package: Path | None) -> Counter[str]:
    """Findings by rule over a folder of repositories."""
    done = subprocess.run(
        [*CHECK.split(), "--isolated", str(folder.resolve())],
        cwd=package,
        env=_environment(package),
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 2):
        raise SystemExit(f"check failed on {folder}:\n{done.stderr}")
    return Counter(finding["code"] for finding in json.loads(done.stdout))


def _environment(package: Path | None) -> dict[str, str]:
    environment = dict(os.environ)
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    return environment


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A work tree of another revision, removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", str(tree), revision], check=True, capture_output=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True, capture_output=True)


def report(runs: Mapping[str, Run], causes: Mapping[str, str], lines_of_trees: int) -> list[str]:
    """The section as Markdown; the last run is the one that is reported on."""
    last = list(runs.values())[-1]
    lines = [f"Last run: {page.today()}.", ""]
    head = ["family", "cases", *(f"{label}: right / resolved" for label in runs)]
    rows: list[list[object]] = []
    for name, family in last.families.items():
        row: list[object] = [name, family.cases]
        for run in runs.values():
            other = run.families.get(name)
            row.append("-" if other is None else f"{other.right:.0f}% / {other.resolved:.0f}%")
        rows.append(row)
    for name, key in (("noise per 1,000 clean lines", "noise"), ("stray per 1,000 repaired lines", "stray")):
        rows.append([name, "", *(f"{getattr(run, key):.2f}" for run in runs.values())])
    lines += page.table(head, rows)
    codes = sorted({code for run in runs.values() for code in (*run.noise_by_rule, *run.tree_findings)})
    if codes:
        lines += ["", "Findings by rule: on the clean files (all of them read, see below)"]
        lines[-1] += f", and on {lines_of_trees:,} lines of real repositories." if lines_of_trees else "."
        head = ["rule", *(f"{label}: clean" for label in runs)]
        trees = [label for label, run in runs.items() if run.tree_findings]
        head += [f"{label}: repositories" for label in trees]
        rows = [
            [
                code,
                *(run.noise_by_rule.get(code, 0) for run in runs.values()),
                *(runs[label].tree_findings.get(code, 0) for label in trees),
            ]
            for code in codes
        ]
        lines += ["", *page.table(head, rows)]
    by_cause: dict[str, list[str]] = defaultdict(list)
    for case, category, decidable, _ in last.misses:
        if decidable == "single-file":
            by_cause[causes.get(case, "not looked into")].append(category)
    if by_cause:
        total = sum(map(len, by_cause.values()))
        lines += ["", f"Why the {total} single-file cases that are left are missed:", ""]
        lines += page.table(
            ["cause", "cases", "families"],
            [
                [cause, len(found), ", ".join(f"{name} {n}" for name, n in sorted(Counter(found).items()))]
                for cause, found in sorted(by_cause.items(), key=lambda item: (-len(item[1]), item[0]))
            ],
        )
    return lines


def read_causes(path: Path) -> dict[str, str]:
    """Why each case is missed, by its id."""
    if not path.exists():
        return {}
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {entry["id"]: entry["cause"] for entry in entries}


def _lines_below(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scorer", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--before", metavar="REVISION")
    parser.add_argument("--floor", type=Path, help="a pattern-only linter to compare with; any code of it counts")
    parser.add_argument("--trees", type=Path, help="a folder of real repositories")
    parser.add_argument("--missed", type=Path, default=MISSED)
    parser.add_argument("--write", action="store_true", help="renew the section of docs/benchmarks.md")
    arguments = parser.parse_args()
    runs: dict[str, Run] = {}
    if arguments.floor:
        tool = f"{sys.executable} {arguments.floor.resolve()}"
        runs["floor"] = measured(arguments.scorer, arguments.cases, tool, None, any_code=True)
        runs["floor"].noise_by_rule = {}  # its codes are its own
    if arguments.before:
        with checked_out(arguments.before) as tree:
            runs["before"] = measured(arguments.scorer, arguments.cases, CHECK, tree)
            if arguments.trees:
                runs["before"].tree_findings = count_findings(arguments.trees, tree)
    runs["now"] = measured(arguments.scorer, arguments.cases, CHECK, ROOT)
    if arguments.trees:
        runs["now"].tree_findings = count_findings(arguments.trees, ROOT)
    lines = report(runs, read_causes(arguments.missed), _lines_below(arguments.trees) if arguments.trees else 0)
    print("\n".join(lines))
    if arguments.write:
        page.write_section("accuracy", lines)


if __name__ == "__main__":
    main()
