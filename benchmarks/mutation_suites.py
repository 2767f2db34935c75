"""The machine's word on mutations of projects without a driver: their own test suites as device mutants, on a virtual GPU.

    python benchmarks/mutation_suites.py FOLDER... --verdicts benchmarks/mutations.jsonl [--python PYTHON] [--most 40] [--seed 1] [--seconds 120]

Each FOLDER (OWNER+NAME) is the checkout of a project that mutation_suites.json names. Its suite runs once on the untouched code, with the values of test code on
cuda:0, within a box of CPU time; that tells which tests pass and which lines of the library each of them executes. A drawn deletion (those that such a test
reaches come first) is then run by the shortest tests that reach it. It is *confirmed* when one of them fails, or when the library gives a CPU tensor back that it
gave on the GPU before; it *passes* when nothing changes; it is *unreached* when no passing test executes it, and *unknown* when the run did not end.

Each deletion is run twice: once the library is told nothing, then with the parameters of the library that name a device given as well. PYTHON is an interpreter
with torch and what the projects need. No project's code is kept, and runs have no sandbox.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation_machine import Verdict
from mutations import Mutation, Verdicts, draw, in_folder, tell

from torchdevlint.machine.launch import environment
from torchdevlint.machine.shape import Shape
from torchdevlint.verify.mutants import record
from torchdevlint.verify.mutants.settings import Mode, Settings

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SUITES = HERE / "mutation_suites.json"
_MODES: tuple[Mode, ...] = ("untold", "told")
_WITNESSES = 4
_TEST = 20
"""Seconds of CPU time that one test may take on the untouched code."""
_WALL = 900


@dataclass(frozen=True)
class Suite:
    """How the tests of a project are run: what pytest is given, the folders of the library, variables of the environment."""

    tests: tuple[str, ...]
    library: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Ran:
    """What a run showed, by test: the outcome, the lines that it executes, how many CPU tensors it got back, the first fault that it met."""

    outcomes: Mapping[str, Mapping[str, Any]]
    lines: Mapping[str, Mapping[str, Sequence[int]]]
    returns: Mapping[str, int]
    faults: Mapping[str, str]

    def witnesses(self, path: Path, first: int, last: int) -> list[str]:
        """The shortest passing tests that execute one of these lines of a file."""
        name, rows = str(path), set(range(first, last + 1))
        reached = [test for test, lines in self.lines.items() if rows & set(lines.get(name, ()))]
        fine = [test for test in reached if self.outcomes.get(test, {}).get("outcome") == "passed"]
        return sorted(fine, key=lambda test: self.outcomes[test]["seconds"])[:_WITNESSES]


def suites() -> dict[str, Suite]:
    """The suites by the name of their project's folder."""
    data = json.loads(SUITES.read_text(encoding="utf-8"))
    return {
        name: Suite(tuple(its["tests"]), tuple(its["library"]), its.get("environment", {}))
        for name, its in data.items()
    }


def run(
    folder: Path,
    suite: Suite,
    mode: Mode,
    python: str,
    seconds: float,
    *,
    spots: Mapping[str, Sequence[int]] | None = None,
    only: Sequence[str] = (),
    changed: tuple[Path, str] | None = None,
) -> Ran | None:
    """Run a project's suite as device mutants, or some tests of it; None when it had to be ended.

    `spots` are the lines whose tests are asked for, by absolute path. `changed` is a file that has another text.
    """
    with tempfile.TemporaryDirectory(prefix="torchdevlint-suites-") as place:
        work = Path(place)
        (work / "reports").mkdir()
        (work / "seen").mkdir()
        overlay: dict[str, str] = {}
        if changed is not None:
            (work / "changed.py").write_text(changed[1], encoding="utf-8", newline="")
            overlay = {str(changed[0]): str(work / "changed.py")}
        chosen = ""
        if only:
            chosen = str(work / "only.txt")
            Path(chosen).write_text("\n".join(only), encoding="utf-8")
        (work / "spots.json").write_text(json.dumps(spots or {}), encoding="utf-8")
        library = tuple(str((folder / path).resolve()) for path in suite.library)
        settings = Settings(str(folder), str(work / "seen"), library, (), mode, chosen, overlay)
        variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "src"), str(HERE), str(ROOT)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "TORCHDEVLINT_PYTEST": "1",
            "TIMEBOX_SECONDS": str(seconds),
            "TIMEBOX_TEST": str(_TEST),
            "SUITE_SPOTS": str(work / "spots.json"),
            "SUITE_LINES": str(work / "lines.json"),
            **suite.environment,
        }
        variables = environment(
            Shape(gpus=1), ledger=False, report_dir=work / "reports", base=settings.to_environment(variables)
        )
        files = dict.fromkeys(test.split("::")[0] for test in only) or suite.tests
        command = [python, "-m", "pytest", "-q", "-p", "device_mutants_timebox", "-p", "suite_lines"]
        command += ["-p", "no:cacheprovider", "--continue-on-collection-errors", "-o", "addopts=", "--rootdir", "."]
        with (work / "log.txt").open("wb") as log:
            child = subprocess.Popen([*command, *files], cwd=folder, env=variables, stdout=log, stderr=log)
            try:
                child.wait(_WALL)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                return None
        found = record.read(work / "seen")
        lines = json.loads((work / "lines.json").read_text()) if (work / "lines.json").exists() else {}
        if not found["outcomes"]:
            tell(f"  {folder.name}: no test ran: {_end(work / 'log.txt')}")
        return Ran(found["outcomes"], lines, *_signals(found["seen"]))


def _end(log: Path) -> str:
    return " | ".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-4:])[-500:]


def _signals(seen: Sequence[Mapping[str, Any]]) -> tuple[dict[str, int], dict[str, str]]:
    """How many CPU tensors each test got back, and the first fault that it met."""
    returns: dict[str, int] = {}
    faults: dict[str, str] = {}
    for item in seen:
        for test in item["tests"]:
            if item["signal"] == "return":
                returns[test] = returns.get(test, 0) + 1
            else:
                faults.setdefault(test, f"{item['message']} in {item['operator']}")
    return returns, faults


def compare(before: Ran, after: Ran, tests: Sequence[str]) -> Verdict:
    """What another text of a file did to tests that passed."""
    for test in tests:
        outcome = after.outcomes.get(test)
        if outcome is None:
            return Verdict("unknown", f"{test} did not run")
        if outcome["outcome"] == "failed":
            if str(outcome.get("error", "")).startswith("TooLong"):
                return Verdict("unknown", f"{test} took too long")
            why = after.faults.get(test) or str(outcome.get("error", ""))
            return Verdict("confirmed", why.splitlines()[0][:200] if why else "a test failed")
    for test in tests:
        if after.returns.get(test, 0) > before.returns.get(test, 0):
            return Verdict("confirmed", "a result on the CPU")
    return Verdict("passes")


def judge(
    folder: Path, suite: Suite, known: Mapping[Mode, Ran], python: str, seconds: float, path: Path, mutation: Mutation
) -> Verdict:
    """The verdict on one deletion: of the first way to run in which it shows, else that nothing changed or nobody reached it."""
    verdict = Verdict("unreached")
    for mode, before in known.items():
        tests = before.witnesses(path, mutation.first, mutation.last)
        if not tests:
            continue
        after = run(folder, suite, mode, python, seconds, only=tests, changed=(path, mutation.text))
        verdict = Verdict("unknown", "it did not end") if after is None else compare(before, after, tests)
        if verdict.kind == "confirmed":
            return verdict
    return verdict


def ask(folder: Path, suite: Suite, arguments: argparse.Namespace, verdicts: Verdicts) -> None:
    """Draw the deletions of a project and add their verdicts."""
    files = {path: its for path, its in in_folder(folder).items() if _is_library(path, folder, suite)}
    spots = {
        str(path): sorted({row for m in some for row in range(m.first, m.last + 1)})
        for path, (_, some) in files.items()
    }
    known: dict[Mode, Ran] = {}
    for mode in _MODES:
        ran = run(folder, suite, mode, arguments.python, arguments.seconds, spots=spots)
        if ran is not None:
            known[mode] = ran
            passed = sum(outcome["outcome"] == "passed" for outcome in ran.outcomes.values())
            tell(f"  {folder.name}, {mode}: {passed} of {len(ran.outcomes)} tests pass on the untouched code")

    def reached(path: Path, mutation: Mutation) -> bool:
        return any(ran.witnesses(path, mutation.first, mutation.last) for ran in known.values())

    drawn = draw(files, arguments.most, arguments.seed, reached)
    waiting = []
    for path, mutation in drawn:
        key = verdicts.key(folder.name, path.relative_to(folder).as_posix(), mutation)
        if key not in verdicts.known and reached(path, mutation):
            waiting.append((key, path, mutation))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        asked = pool.map(
            lambda it: (it, judge(folder, suite, known, arguments.python, arguments.seconds, it[1], it[2])), waiting
        )
        for (key, _, mutation), verdict in asked:
            verdicts.add(key, verdict.kind, verdict.why)
            tell(f"  {folder.name}: {key[1]}:{mutation.row} {mutation.family} {verdict.kind} {verdict.why[:90]}")


def _is_library(path: Path, folder: Path, suite: Suite) -> bool:
    return any(path.is_relative_to((folder / name).resolve()) for name in suite.library)


def _asked(folders: Sequence[Path]) -> Iterator[tuple[Path, Suite]]:
    known = suites()
    for folder in folders:
        suite = known.get(folder.resolve().name)
        if suite is None:
            tell(f"{folder.name}: no suite in {SUITES.name}")
        else:
            yield folder.resolve(), suite


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--verdicts", type=Path, required=True, help="where the machine's verdicts are kept")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--most", type=int, default=40, help="mutations drawn from each project (default: 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120, help="CPU seconds for a whole suite (default: 120)")
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side (default: 2)")
    arguments = parser.parse_args()
    verdicts = Verdicts(arguments.verdicts)
    for folder, suite in _asked(arguments.folders):
        ask(folder, suite, arguments, verdicts)


if __name__ == "__main__":
    main()
