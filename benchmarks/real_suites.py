"""Runs the test suites of real repositories before and after their repair.

usage: python benchmarks/real_suites.py --mirrors FOLDER [--list FILE] [--keep FILE] [--write]

For each line "owner/name commit TESTS..." of the list (default: real_suites.txt beside this file): the suite runs twice on a copy of the repository as
it is, once after `--fix`, and once after `--fix --unsafe-fixes`; it does not run where there is nothing to repair. Tests whose outcome differs between
the first two runs are left out; every other test must come out the same in all runs. TESTS are arguments of pytest. Nothing is installed: the
suite runs with this interpreter and with what can be imported. Exit code 1 when an outcome differs.

The code of these repositories is run. There is no sandbox.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import page
import real_code

from torchdevlint.settings import Resolver
from torchdevlint.workspace import runner

_LIST = Path(__file__).with_name("real_suites.txt")
_LIMIT_S = 1200
_REPAIRS = ("NONE", "SAFE", "UNSAFE")
_ENVIRONMENT = {
    "TEST_DEVICE": "cpu",
    "CI": "true",
}  # pytorch-metric-learning asks for the first, hypothesis for the second
Outcomes = Mapping[str, str]


@dataclass(slots=True)
class Result:
    """What the suite of one repository gave."""

    name: str
    commit: str
    tests: int = 0
    """Tests whose outcome is the same in both runs of the original."""
    passed: int = 0
    """Those of them that pass."""
    unstable: int = 0
    """Tests that are left out."""
    safe: int = 0
    """Files changed by --fix."""
    unsafe: int = 0
    """Files changed by --fix --unsafe-fixes."""
    differences: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mirrors", type=Path, required=True, help="where the git directories are")
    parser.add_argument("--list", type=Path, default=_LIST, help="the repositories and their tests")
    parser.add_argument("--keep", type=Path, help="a file that results are kept in")
    parser.add_argument("--write", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    results = kept(options.keep)
    known = {(result.name, result.commit) for result in results}
    for repository, arguments in listed(options.list, options.mirrors):
        if (repository.name, repository.commit) in known:
            continue
        result = examine(repository, arguments)
        print(f"{result.name}: {result.tests} tests, {result.passed} pass, {result.unstable} unstable, ", end="")
        print(f"changed {result.safe} / {result.unsafe}, {len(result.differences)} differences")
        for told in result.differences:
            print(f"  DIFFERENCE {told}")
        sys.stdout.flush()
        results.append(result)
        if options.keep is not None:
            with options.keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(result)) + "\n")
    if options.write:
        page.write_section("real suites", section(results))
    return 1 if any(result.differences for result in results) else 0


def listed(path: Path, mirrors: Path) -> list[tuple[real_code.Repository, list[str]]]:
    """The repositories of a list that are there, with the arguments for pytest."""
    arguments = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, *rest = line.split()
            arguments[name] = rest
    return [(repository, arguments[repository.name]) for repository in real_code.listed(path, mirrors)]


def kept(path: Path | None) -> list[Result]:
    """The results of earlier runs."""
    if path is None or not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def examine(repository: real_code.Repository, arguments: Sequence[str]) -> Result:
    """The runs of one suite. A copy in which nothing was repaired needs none: it is the original."""
    result = Result(repository.name, repository.commit)
    with tempfile.TemporaryDirectory() as temporary:
        copies = {repair: Path(temporary) / repair / repository.name.rpartition("/")[2] for repair in _REPAIRS}
        for repair, copy in copies.items():
            copy.parent.mkdir()
            repository.copy_to(copy)
            repaired(copy, repair)
        original = real_code.snapshot(copies["NONE"])
        result.safe, result.unsafe = (
            len(real_code.changed(original, real_code.snapshot(copies[repair]))) for repair in ("SAFE", "UNSAFE")
        )
        if not result.unsafe:
            return result
        first, second = outcomes_of(copies["NONE"], arguments), outcomes_of(copies["NONE"], arguments)
        safe = outcomes_of(copies["SAFE"], arguments) if result.safe else first
        judge(result, first, second, safe, outcomes_of(copies["UNSAFE"], arguments))
    return result


def repaired(copy: Path, repair: str) -> None:
    """Repairs a copy."""
    here = Path.cwd()
    os.chdir(copy)
    try:
        if repair != "NONE":
            runner.check(["."], Resolver(), repair=repair, write=True, processes=1)
    finally:
        os.chdir(here)


def outcomes_of(copy: Path, arguments: Sequence[str]) -> dict[str, str]:
    """Runs the suite of a copy; the outcome of each test, and of each file that could not be collected."""
    report = copy.parent / "report.xml"
    plain = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "-o",
        "addopts=",
        "-o",
        "filterwarnings=",
        f"--junitxml={report}",
    ]
    paths = os.pathsep.join(str(copy / folder) for folder in ("", "src"))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **_ENVIRONMENT,
    }
    command = [sys.executable, "-m", "pytest", *plain, *arguments]
    try:
        subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return {"the suite": f"takes more than {_LIMIT_S} seconds"}
    return read(report) if report.exists() else {"the suite": "does not run"}


def read(report: Path) -> dict[str, str]:
    """The outcome of each test of a report in JUnit's format, by the test's name; tests of one name are numbered."""
    found: dict[str, str] = {}
    count: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        count[name] += 1
        marks = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[f"{name} ({count[name]})" if count[name] > 1 else name] = marks[0] if marks else "passed"
    return found


def judge(result: Result, first: Outcomes, second: Outcomes, safe: Outcomes, unsafe: Outcomes) -> None:
    """Compares the runs of one suite."""
    stable = {name: first[name] for name in first if first[name] == second.get(name)}
    result.tests = len(stable)
    result.passed = sum(outcome == "passed" for outcome in stable.values())
    result.unstable = len(first.keys() | second.keys()) - len(stable)
    for kind, after in (("--fix", safe), ("--fix --unsafe-fixes", unsafe)):
        result.differences += [
            f"{name}: {outcome}, and {after.get(name, 'missing')} after {kind}"
            for name, outcome in stable.items()
            if after.get(name) != outcome
        ]


def section(results: Sequence[Result]) -> list[str]:
    """The section of docs/benchmarks.md."""
    results = sorted((result for result in results if result.unsafe), key=lambda result: result.name.lower())
    heads = (
        "repository",
        "tests",
        "that pass",
        "unstable, left out",
        "files repaired",
        "with unsafe fixes",
        "differences",
    )
    rows = [
        (
            f"{result.name} {result.commit[:9]}",
            result.tests,
            result.passed,
            result.unstable,
            result.safe,
            result.unsafe,
            "; ".join(result.differences) or "none",
        )
        for result in results
    ]
    tests = sum(result.tests for result in results)
    return [f"Last run: {page.today()}, {len(results)} suites, {tests:,} tests.", "", *page.table(heads, rows)]


if __name__ == "__main__":
    sys.exit(main())
